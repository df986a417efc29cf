import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { IconButton, Prose } from '../components/basics.tsx'
import { Icon } from '../components/icon.tsx'
import { humanise } from '../lib/format.ts'
import { Area, Choices, Control, Switch } from './controls.tsx'
import type { Field, GroupField, RowsField, VariantsField } from './fields.ts'
import { Frame, Help, concerns, idOf, type FieldProps } from './frame.tsx'
import { chosenVariant, groupOf, isGiven, rowsOf, withoutRow } from './read-form.ts'
import { StoredFile } from './stored-file.tsx'

/** A field of a form: its label, its control, its help, and its problem. */
function FieldView(props: FieldProps): JSX.Element | null {
  const { field } = props
  switch (field.kind) {
    case 'constant':
      return null
    case 'group':
      return <Group {...props} field={field} />
    case 'rows':
      return <Rows {...props} field={field} />
    case 'variants':
      return <Variants {...props} field={field} />
    case 'choices':
      return <Choices {...props} field={field} />
    case 'area':
      return <Area {...props} />
    case 'boolean':
      return <Switch {...props} />
    default:
      return (
        <Frame {...props} for={idOf(field)}>
          <Control {...props} />
        </Frame>
      )
  }
}

/** One member of an object, with the props of the object. */
export function Member({ field, of }: { field: Field; of: FieldProps }): JSX.Element {
  const group = groupOf(of.value)
  return (
    <FieldView
      field={field}
      value={group[field.name]}
      form={of.form}
      onChange={(next) => of.onChange({ ...group, [field.name]: next })}
    />
  )
}

/** True for fields that use the full width of the form. */
export function isWide({ kind }: Field): boolean {
  return kind === 'area' || kind === 'choices' || kind === 'group' || kind === 'rows' || kind === 'json'
}

function Group(props: FieldProps<GroupField>): JSX.Element {
  const { field, form } = props
  const members = field.fields.map((inner) => <Member key={inner.pointer} field={inner} of={props} />)
  if (field.name === '') return <>{members}</>
  return (
    <fieldset class="fieldset">
      <legend>{humanise(field.name)}</legend>
      <Help {...props} />
      {field.name === 'storagePath' && form.sources.includes(field.pointer) && (
        <StoredFile
          id={`${idOf(field)}-file`}
          projectRef={form.projectRef}
          value={groupOf(props.value)}
          invalid={form.problems.has(field.pointer)}
          onChange={props.onChange}
        />
      )}
      {members}
    </fieldset>
  )
}

/** A list of objects: one box each, with the required fields first and the others behind Options. */
function Rows(props: FieldProps<RowsField>): JSX.Element {
  const { field, form, onChange } = props
  // A new React key per removal, so that no entry takes over the state of the removed one.
  const [removals, setRemovals] = useState(0)
  const rows = rowsOf(props.value)
  const one = humanise(field.name).replace(/s$/, '')
  return (
    <fieldset class="fieldset">
      <legend>{humanise(field.name)}</legend>
      <Help {...props} />
      {rows.map((row, i) => (
        <Row
          key={`${i}-${removals}`}
          {...props}
          field={field.item(i) as GroupField}
          label={`${one} ${i + 1}`}
          value={row}
          onChange={(next) => onChange(rows.with(i, next))}
          onRemove={() => {
            setRemovals(removals + 1)
            form.onVariants(withoutRow(form.variants, field.pointer, i))
            onChange(rows.toSpliced(i, 1))
          }}
        />
      ))}
      {rows.length < (field.schema.maxItems ?? Infinity) && (
        <button type="button" class="button small add-row" onClick={() => onChange([...rows, {}])}>
          <Icon name="plus" size={14} />
          Add {one.toLowerCase()}
        </button>
      )}
    </fieldset>
  )
}

function Row(props: FieldProps<GroupField> & { label: string; onRemove: () => void }): JSX.Element {
  const { field, form, label, onRemove } = props
  const group = groupOf(props.value)
  const needed = field.fields.filter(({ required }) => required)
  const lead = needed.length > 0 ? needed : field.fields
  const others = field.fields.filter((inner) => !lead.includes(inner))
  const isOpen = others.some((inner) => isGiven(group[inner.name]) || concerns(form.problems, inner))
  const show = (inner: Field) => <Member key={inner.pointer} field={inner} of={props} />
  return (
    <div class="form-row" role="group" aria-label={label}>
      <div class="row">
        <strong>{label}</strong>
        <IconButton label={`Remove ${label}`} icon="close" onClick={onRemove} />
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

function Variants(props: FieldProps<VariantsField>): JSX.Element {
  const { field, value, form, onChange } = props
  const id = idOf(field)
  const chosen = chosenVariant(field, value, form.variants)
  const inner = field.variants[chosen]?.field
  const { description, default: fallback } = field.schema
  // Values of other variants are kept and shown again when the variant is chosen again.
  const entered = useRef<Record<number, unknown>>({})
  const choose = (index: number, next: unknown) => {
    entered.current[chosen] = value
    form.onVariants({ ...form.variants, [field.pointer]: index })
    onChange(next)
  }
  return (
    <Frame {...props} for={id}>
      <select
        id={id}
        class="select"
        value={String(chosen)}
        aria-describedby={`${id}-help`}
        onChange={(event) => {
          const index = Number(event.currentTarget.value)
          choose(index, entered.current[index])
        }}
      >
        {!field.required && (
          <option value="-1">{fallback === undefined ? 'Default' : `${JSON.stringify(fallback)} (default)`}</option>
        )}
        {field.variants.map(({ label }, i) => (
          <option key={label} value={String(i)}>
            {label}
          </option>
        ))}
      </select>
      {inner?.schema.description && inner.schema.description !== description && (
        <p class="help">
          <Prose text={inner.schema.description} />
        </p>
      )}
      {inner && <VariantBody {...props} field={inner} onChange={(next) => choose(chosen, next)} />}
    </Frame>
  )
}

/** The fields of the chosen variant, without a frame. */
function VariantBody(props: FieldProps): JSX.Element | null {
  const { field } = props
  if (field.kind === 'constant') return null
  if (field.kind === 'group') {
    return (
      <>
        {field.fields.map((inner) => (
          <Member key={inner.pointer} field={inner} of={props} />
        ))}
      </>
    )
  }
  const value = { ...field, pointer: `${field.pointer}/value` }
  return <Control {...props} label={`${humanise(field.name)}: value`} field={value} />
}
