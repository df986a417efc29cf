import type { JSX } from 'preact'
import { Prose } from '../components/basics.tsx'
import { lazyComponent } from '../components/lazy.tsx'
import { humanise } from '../lib/format.ts'
import { exampleOf } from './designs.ts'
import type { GroupDraft, VariantsDraft } from './drafts.ts'
import type { ChoiceField, Field, GroupField, VariantsField } from './fields.ts'
import { Frame, Help, Key, idOf, type FieldProps } from './frame.tsx'
import { Rows } from './rows.tsx'
import { StoredFile } from './stored-file.tsx'

/** Loads the map engine, which only forms with an area need. */
const AreaInput = lazyComponent(() => import('./area-input.tsx').then((module) => module.AreaInput))

/** A field of a form: its label, its control, its help, and its problem. */
export function FieldView(props: FieldProps): JSX.Element | null {
  const { field } = props
  switch (field.kind) {
    case 'constant':
      return null
    case 'group':
      return <Group {...props} field={field} />
    case 'rows':
      return <Rows {...props} field={field} view={FieldView} />
    case 'variants':
      return <Variants {...props} field={field} />
    case 'choices':
      return <Choices {...props} field={field} />
    case 'area':
      return <Area {...props} />
    case 'boolean':
      return <Switch {...props} />
    default:
      return <Plain {...props} />
  }
}

/** True for fields that use the full width of the form. */
export function isWide({ kind }: Field): boolean {
  return kind === 'area' || kind === 'choices' || kind === 'group' || kind === 'rows' || kind === 'json'
}

function Plain(props: FieldProps): JSX.Element {
  const { field } = props
  return (
    <Frame {...props} for={idOf(field)}>
      <Control {...props} />
    </Frame>
  )
}

function Control(props: FieldProps & { label?: string }): JSX.Element {
  const { field, draft, problems, suggestions, onChange, label } = props
  const id = idOf(field)
  const common = {
    id,
    ...(label !== undefined && { 'aria-label': label }),
    'aria-describedby': `${id}-help`,
    'aria-required': field.required,
    'aria-invalid': problems.has(field.pointer),
  }
  const value = typeof draft === 'string' ? draft : ''
  const fallback = textOf(field.fallback)
  if (field.kind === 'choice') {
    return (
      <select {...common} class="select" value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{fallback ? `${fallback} (default)` : field.required ? 'Choose …' : 'Default'}</option>
        {field.options
          .filter((option) => option !== fallback)
          .map((option) => (
            <option key={option} value={option}>
              {option}
            </option>
          ))}
      </select>
    )
  }
  if (field.kind === 'json') {
    return (
      <textarea
        {...common}
        class="textarea"
        spellcheck={false}
        value={value}
        placeholder={field.fallback === undefined ? (exampleOf(field.name) ?? '') : JSON.stringify(field.fallback)}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
    )
  }
  const offered = suggestions[field.name] ?? []
  return (
    <>
      <input
        {...common}
        class="input"
        type="text"
        inputMode={field.kind === 'number' ? (field.integer ? 'numeric' : 'decimal') : 'text'}
        autocomplete="off"
        spellcheck={false}
        value={value}
        placeholder={fallback || (exampleOf(field.name) ?? (field.kind === 'list' ? 'comma-separated' : ''))}
        {...(offered.length > 0 && { list: `${id}-list` })}
        onInput={(event) => onChange(event.currentTarget.value)}
      />
      {offered.length > 0 && (
        <datalist id={`${id}-list`}>
          {offered.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
      )}
    </>
  )
}

function Switch(props: FieldProps): JSX.Element {
  const { field, draft, onChange } = props
  const id = idOf(field)
  return (
    <div class="field">
      <div class="label-row">
        <label class="check" for={id}>
          <input
            id={id}
            type="checkbox"
            checked={typeof draft === 'boolean' ? draft : field.fallback === true}
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

function Choices(props: FieldProps<ChoiceField>): JSX.Element {
  const { field, draft, onChange } = props
  const chosen = draft as readonly string[]
  return (
    <Frame {...props}>
      <div class="chips" role="group" aria-label={humanise(field.name)} aria-describedby={`${idOf(field)}-help`}>
        {field.options.map((option) => (
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
    </Frame>
  )
}

function Group(props: FieldProps<GroupField>): JSX.Element {
  const { field, draft, onChange } = props
  const { group } = draft as GroupDraft
  const fields = field.fields.map((inner) => (
    <FieldView
      key={inner.pointer}
      {...props}
      field={inner}
      draft={group[inner.name] ?? null}
      onChange={(next) => onChange({ group: { ...group, [inner.name]: next } })}
    />
  ))
  if (field.name === '') return <>{fields}</>
  return (
    <fieldset class="fieldset">
      <legend>{humanise(field.name)}</legend>
      <Help {...props} />
      {field.name === 'storagePath' && props.reads && (
        <StoredFile
          id={`${idOf(field)}-file`}
          projectRef={props.projectRef}
          draft={draft as GroupDraft}
          invalid={props.problems.has(field.pointer)}
          onChange={onChange}
        />
      )}
      {fields}
    </fieldset>
  )
}

function Variants(props: FieldProps<VariantsField>): JSX.Element {
  const { field, draft, onChange } = props
  const { chosen, drafts } = draft as VariantsDraft
  const id = idOf(field)
  const inner = field.variants[chosen]?.field
  const shownFallback = field.fallback === undefined ? 'Default' : `${JSON.stringify(field.fallback)} (default)`
  return (
    <Frame {...props} for={id}>
      <select
        id={id}
        class="select"
        value={String(chosen)}
        aria-describedby={`${id}-help`}
        onChange={(event) => onChange({ chosen: Number(event.currentTarget.value), drafts })}
      >
        {!field.required && <option value="-1">{shownFallback}</option>}
        {field.variants.map(({ label }, i) => (
          <option key={label} value={String(i)}>
            {label}
          </option>
        ))}
      </select>
      {inner && inner.help !== field.help && (
        <p class="help">
          <Prose text={inner.help} />
        </p>
      )}
      {inner && (
        <VariantBody
          {...props}
          field={inner}
          draft={drafts[chosen] ?? null}
          onChange={(next) => onChange({ chosen, drafts: drafts.map((old, i) => (i === chosen ? next : old)) })}
        />
      )}
    </Frame>
  )
}

/** The fields of the chosen variant, without a frame. */
function VariantBody(props: FieldProps): JSX.Element | null {
  const { field, draft, onChange } = props
  if (field.kind === 'constant') return null
  if (field.kind !== 'group') {
    return (
      <Control
        {...props}
        label={`${humanise(field.name)}: value`}
        field={{ ...field, pointer: `${field.pointer}/value` }}
      />
    )
  }
  const { group } = draft as GroupDraft
  return (
    <>
      {field.fields.map((inner) => (
        <FieldView
          key={inner.pointer}
          {...props}
          field={inner}
          draft={group[inner.name] ?? null}
          onChange={(next) => onChange({ group: { ...group, [inner.name]: next } })}
        />
      ))}
    </>
  )
}

function Area(props: FieldProps): JSX.Element {
  const { field, draft, onChange, projectRef } = props
  return (
    <Frame {...props} for={idOf(field)}>
      <AreaInput
        id={idOf(field)}
        projectRef={projectRef}
        value={typeof draft === 'string' ? draft : ''}
        required={field.required}
        invalid={props.problems.has(field.pointer)}
        onChange={onChange}
      />
    </Frame>
  )
}

function textOf(value: unknown): string {
  if (value === undefined) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}
