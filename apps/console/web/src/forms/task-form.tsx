import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Segmented } from '../components/basics.tsx'
import { Member, isWide } from './field-view.tsx'
import type { Field, GroupField } from './fields.ts'
import { concerns, type FieldProps, type FormContext } from './frame.tsx'
import { layoutOf } from './layouts.ts'
import { isGiven, type Group } from './read-form.ts'

/**
 * The form of a task: its input sources, then the main fields, then the rest under Advanced. `fields.ts` makes fields
 * from the schema of the request body, `layouts.ts` orders them, `read-form.ts` parses and checks the values.
 */
export function TaskForm(props: {
  task: string
  field: GroupField
  body: Group
  form: Omit<FormContext, 'sources'>
  onChange: (body: Group) => void
}): JSX.Element {
  const { task, field, body, onChange } = props
  const { lead, sources, others } = arrange(task, field, body)
  const given = sources.find((option) => isGiven(body[option.field.name]))
  const [chosen, setChosen] = useState(given?.field.name ?? sources[0]?.field.name ?? '')
  const source = sources.find((option) => option.field.name === chosen)?.field
  const form = { ...props.form, sources: sources.map(({ field: { pointer } }) => pointer) }
  const root: FieldProps = { field, value: body, form, onChange: (next) => onChange(next as Group) }
  const show = (inner: Field) => (
    <div key={inner.pointer} class={isWide(inner) ? 'wide' : ''}>
      <Member field={inner} of={root} />
    </div>
  )
  const chooseSource = (name: string) => {
    setChosen(name)
    // Only one of the sources is sent.
    const emptied = sources
      .filter((option) => option.field.name !== name)
      .map((option) => [option.field.name, undefined])
    onChange({ ...body, ...Object.fromEntries(emptied) })
  }
  const isOpen = others.some((inner) => isGiven(body[inner.name]) || concerns(form.problems, inner))
  return (
    <>
      {sources.length > 0 && (
        <div class="wide">
          <Segmented
            label="Input source"
            value={chosen}
            onChange={chooseSource}
            options={sources.map(({ field: { name: value }, label }) => ({ value, label }))}
          />
        </div>
      )}
      {source && show(source)}
      {lead.map(show)}
      {others.length > 0 && (
        <details class="wide" open={isOpen}>
          <summary>Advanced</summary>
          <div class="fields">{others.map(show)}</div>
        </details>
      )}
    </>
  )
}

/** The fields of a form by their position in it. */
interface Arrangement {
  readonly lead: readonly Field[]
  readonly sources: readonly { readonly field: Field; readonly label: string }[]
  /** Fields under Advanced. */
  readonly others: readonly Field[]
}

function arrange(task: string, { fields }: GroupField, body: Group): Arrangement {
  const required = fields.filter((inner) => inner.required).map(({ name }) => name)
  const { first, sources = [], hidden = [] } = layoutOf(task, required)
  const named = (name: string) => fields.filter((inner) => inner.name === name)
  const apart = new Set([...first, ...sources.map(({ name }) => name)])
  return {
    lead: first.flatMap(named),
    sources: sources.flatMap(({ name, label }) => named(name).map((field) => ({ field, label }))),
    // Fields that were sent before are shown even if the layout hides them.
    others: fields.filter(({ name }) => !apart.has(name) && (!hidden.includes(name) || isGiven(body[name]))),
  }
}
