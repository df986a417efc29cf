import type { JSX } from 'preact'
import { Icon } from '../components/icon.tsx'
import { humanise } from '../lib/format.ts'
import { emptyDraft, isEntered, type Draft, type GroupDraft, type RowsDraft } from './drafts.ts'
import type { Field, GroupField, RowsField } from './fields.ts'
import { Help, concerns, type FieldProps } from './frame.tsx'

interface Viewing {
  /** Shows one field of an entry. */
  readonly view: (props: FieldProps) => JSX.Element | null
}

/** A list of objects: one box each, with what is needed first and the rest behind Options. */
export function Rows(props: FieldProps<RowsField> & Viewing): JSX.Element {
  const { field, onChange } = props
  const { rows } = props.draft as RowsDraft
  const one = humanise(field.name).replace(/s$/, '')
  return (
    <fieldset class="fieldset">
      <legend>{humanise(field.name)}</legend>
      <Help {...props} />
      {rows.map((draft, i) => (
        <Row
          key={i}
          {...props}
          field={field.item(i) as GroupField}
          label={`${one} ${i + 1}`}
          draft={draft}
          onChange={(next) => onChange({ rows: rows.map((old, at) => (at === i ? next : old)) })}
          onRemove={() => onChange({ rows: rows.filter((_, at) => at !== i) })}
        />
      ))}
      {rows.length < field.maxItems && (
        <button
          type="button"
          class="button small add-row"
          onClick={() => onChange({ rows: [...rows, emptyDraft(field.item(rows.length))] })}
        >
          <Icon name="plus" size={14} />
          Add {one.toLowerCase()}
        </button>
      )}
    </fieldset>
  )
}

function Row(props: FieldProps<GroupField> & Viewing & { label: string; onRemove: () => void }): JSX.Element {
  const { label, onRemove, view: View, ...rest } = props
  const { field, problems, onChange } = rest
  const { group } = rest.draft as GroupDraft
  const draftFor = (inner: Field): Draft => group[inner.name] ?? emptyDraft(inner)
  const needed = field.fields.filter(({ required }) => required)
  const lead = needed.length > 0 ? needed : field.fields
  const others = field.fields.filter((inner) => !lead.includes(inner))
  const isOpen = others.some((inner) => isEntered(inner, draftFor(inner)) || concerns(problems, inner))
  const show = (inner: Field) => (
    <View
      key={inner.pointer}
      {...rest}
      field={inner}
      draft={draftFor(inner)}
      onChange={(next) => onChange({ group: { ...group, [inner.name]: next } })}
    />
  )
  return (
    <div class="form-row" role="group" aria-label={label}>
      <div class="row">
        <strong>{label}</strong>
        <button type="button" class="button small icon quiet" aria-label={`Remove ${label}`} onClick={onRemove}>
          <Icon name="close" size={14} />
        </button>
      </div>
      {lead.map(show)}
      {others.length > 0 && (
        <details open={isOpen}>
          <summary>Options</summary>
          <div class="stack">{others.map(show)}</div>
        </details>
      )}
    </div>
  )
}
