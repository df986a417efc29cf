import type { JSX } from 'preact'
import { PARAMETER_TYPES, type SqlParameter } from '../../lib/sql.ts'
import { Choice, Option, TextInput } from '../maps/controls.tsx'

/** Types and values of the parameters in a statement. */
export function ParameterRows(props: {
  parameters: readonly SqlParameter[]
  onChange: (parameters: readonly SqlParameter[]) => void
}): JSX.Element {
  const { parameters, onChange } = props
  const set = (i: number, change: Partial<SqlParameter>) =>
    onChange(parameters.with(i, { ...parameters[i]!, ...change }))
  return (
    <>
      {parameters.map(({ name, type, value }, i) => (
        <Option key={name} label={`:${name}`}>
          <Choice
            label={`Type of ${name}`}
            value={type}
            options={PARAMETER_TYPES}
            onChoose={(next) => set(i, { type: next })}
          />
          <TextInput label={`Value of ${name}`} value={value} onText={(next) => set(i, { value: next })} />
        </Option>
      ))}
    </>
  )
}
