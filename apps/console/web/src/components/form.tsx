import type { JSX } from 'preact'

type FormProps = Omit<JSX.IntrinsicElements['form'], 'onSubmit' | 'ref'> & { onSubmit: (form: HTMLFormElement) => void }

/** A form that the page handles; the browser sends nothing. */
export function Form({ onSubmit, ...props }: FormProps): JSX.Element {
  return (
    <form
      {...props}
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit(event.currentTarget)
      }}
    />
  )
}

/** A value of a select, its text, and attributes of its option. */
export type SelectOption<T extends string> = readonly [
  value: T,
  text: string,
  attributes?: JSX.IntrinsicElements['option'],
]

type SelectProps<T extends string> = Pick<
  JSX.IntrinsicElements['select'],
  'id' | 'class' | 'disabled' | 'aria-label'
> & {
  value: T
  options: readonly SelectOption<T>[]
  onChoose: (value: T) => void
}

/** A select of named values. */
export function Select<T extends string>({ options, onChoose, ...props }: SelectProps<T>): JSX.Element {
  return (
    <select class="select" {...props} onChange={(event) => onChoose(event.currentTarget.value as T)}>
      {options.map(([value, text, attributes]) => (
        <option key={value} value={value} {...attributes}>
          {text}
        </option>
      ))}
    </select>
  )
}

/** A select with a label above it. */
export function SelectField<T extends string>({
  label,
  ...props
}: SelectProps<T> & { id: string; label: string }): JSX.Element {
  return (
    <div class="field">
      <label for={props.id}>{label}</label>
      <Select {...props} />
    </div>
  )
}

type LineProps = JSX.IntrinsicElements['input'] & { label: string; onValue: (value: string) => void }

/** A line of text with a label above it. */
export function Line({ label, onValue, ...input }: LineProps): JSX.Element {
  return (
    <label class="field">
      <span class="label">{label}</span>
      <input class="input" {...input} onInput={(event) => onValue(event.currentTarget.value)} />
    </label>
  )
}

/** A checkbox with a label beside it. */
export function Check(props: { label: string; isOn: boolean; onChange: (isOn: boolean) => void }): JSX.Element {
  return (
    <label class="check">
      <input type="checkbox" checked={props.isOn} onChange={(event) => props.onChange(event.currentTarget.checked)} />
      {props.label}
    </label>
  )
}
