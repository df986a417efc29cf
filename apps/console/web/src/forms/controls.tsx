import type { JSX } from 'preact'
import { useMemo } from 'preact/hooks'
import { lazyComponent } from '../components/lazy.tsx'
import { humanise } from '../lib/format.ts'
import { isInteger, optionsOf, type Field, type ListField, type PlainField } from './fields.ts'
import { Frame, Help, Key, idOf, type FieldProps } from './frame.tsx'
import { exampleOf } from './layouts.ts'
import { rowsOf, textOf } from './read-form.ts'

/** Loads the map engine, which only forms with an area need. */
const AreaInput = lazyComponent(() => import('./area-input.tsx').then((module) => module.AreaInput))

type ControlProps = FieldProps & { readonly label?: string }

/**
 * A choice, checkboxes, a text over several lines or a line of text, by the kind of field; `label` names a control
 * without a frame.
 */
export function Control(props: ControlProps): JSX.Element {
  const { field } = props
  if (field.kind === 'choice') return <Select {...props} field={field} />
  if (field.kind === 'choices') return <Chips {...props} field={field} />
  return field.kind === 'json' ? <JsonText {...props} /> : <Line {...props} />
}

function Select(props: ControlProps & { field: PlainField }): JSX.Element {
  const { field, value, onChange } = props
  const fallback = fallbackOf(field)
  return (
    <select
      {...attributes(props)}
      class="select"
      value={textOf(field, value)}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      <option value="">{fallback ? `${fallback} (default)` : field.required ? 'Choose …' : 'Default'}</option>
      {optionsOf(field)
        .filter((option) => option !== fallback)
        .map((option) => (
          <option key={option} value={option}>
            {option}
          </option>
        ))}
    </select>
  )
}

function JsonText(props: ControlProps): JSX.Element {
  const { field, value, onChange } = props
  const { default: fallback } = field.schema
  return (
    <textarea
      {...attributes(props)}
      class="textarea"
      spellcheck={false}
      value={textOf(field, value)}
      placeholder={fallback === undefined ? (exampleOf(field.name) ?? '') : JSON.stringify(fallback)}
      onInput={(event) => onChange(event.currentTarget.value)}
    />
  )
}

function Line(props: ControlProps): JSX.Element {
  const { field, value, form, onChange } = props
  const list = `${idOf(field)}-list`
  const offered = form.suggestions[field.name] ?? []
  return (
    <>
      <input
        {...attributes(props)}
        class="input"
        type="text"
        inputMode={field.kind === 'number' ? (isInteger(field.schema) ? 'numeric' : 'decimal') : 'text'}
        autocomplete="off"
        spellcheck={false}
        value={textOf(field, value)}
        placeholder={fallbackOf(field) || (exampleOf(field.name) ?? (field.kind === 'list' ? 'comma-separated' : ''))}
        {...(offered.length > 0 && { list })}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {offered.length > 0 && (
        <datalist id={list}>
          {offered.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  )
}

/** A checkbox; it shows the default until it is changed. */
export function Switch(props: FieldProps): JSX.Element {
  const { field, value, onChange } = props
  const id = idOf(field)
  return (
    <div class="field">
      <div class="label-row">
        <label class="check" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={typeof value === 'boolean' ? value : field.schema.default === true}
            aria-describedby={`${id}-help`}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <span>{humanise(field.name)}</span>
        </label>
        <Key field={field} />
      </div>
      <Help {...props} />
    </div>
  )
}

/** One checkbox per option of a list. */
export function Choices(props: FieldProps<ListField>): JSX.Element {
  return (
    <Frame {...props}>
      <Chips {...props} />
    </Frame>
  )
}

function Chips({ field, value, onChange }: FieldProps<ListField>): JSX.Element {
  const chosen = rowsOf(value)
  return (
    <div class="chips" role="group" aria-label={humanise(field.name)} aria-describedby={`${idOf(field)}-help`}>
      {optionsOf(field.item).map((option) => (
        <label key={option} class="chip">
          <input
            type="checkbox"
            checked={chosen.includes(option)}
            onChange={(event) =>
              onChange(event.currentTarget.checked ? [...chosen, option] : chosen.filter((other) => other !== option))
            }
          />
          {option}
        </label>
      ))}
    </div>
  )
}

/** An area, on a map and as text. */
export function Area(props: FieldProps): JSX.Element {
  const { field, value, form, onChange } = props
  // Memoised, because the area of an earlier job may be a long text.
  const text = useMemo(() => textOf(field, value), [value])
  return (
    <Frame {...props} for={idOf(field)}>
      <AreaInput
        id={idOf(field)}
        projectRef={form.projectRef}
        value={text}
        required={field.required}
        invalid={form.problems.has(field.pointer)}
        onChange={onChange}
      />
    </Frame>
  )
}

function attributes({ field, form, label }: ControlProps) {
  const id = idOf(field)
  return {
    id,
    ...(label !== undefined && { 'aria-label': label }),
    'aria-describedby': `${id}-help`,
    'aria-required': field.required,
    'aria-invalid': form.problems.has(field.pointer),
  }
}

function fallbackOf({ schema }: Field): string {
  if (schema.default === undefined) return ''
  return typeof schema.default === 'string' ? schema.default : JSON.stringify(schema.default)
}
