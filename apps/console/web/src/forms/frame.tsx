import type { ComponentChildren, JSX } from 'preact'
import { Prose } from '../components/basics.tsx'
import { humanise } from '../lib/format.ts'
import type { Field } from './fields.ts'
import type { FormState, Problems } from './read-form.ts'

/** Properties that all fields of a form share. */
export interface FormContext extends Pick<FormState, 'variants'> {
  readonly projectRef: string
  readonly problems: Problems
  /** Suggestions for text fields, by field name. */
  readonly suggestions: Readonly<Record<string, readonly string[]>>
  /** Pointers of the input source fields, so that a path in storage is known to be an input. */
  readonly sources: readonly string[]
  readonly onVariants: (variants: FormState['variants']) => void
}

/** A field, its value, and the form that it is part of. */
export interface FieldProps<F extends Field = Field> {
  readonly field: F
  readonly value: unknown
  readonly form: FormContext
  readonly onChange: (value: unknown) => void
}

/** A field's label, its control, its help, and its problem. */
export function Frame(props: FieldProps & { for?: string; children: ComponentChildren }): JSX.Element {
  const { field } = props
  const label = humanise(field.name)
  const mark = field.required ? 'required' : ''
  return (
    <div class="field">
      <div class="label-row">
        {props.for ? (
          <label for={props.for} class={mark}>
            {label}
          </label>
        ) : (
          <span class={`label ${mark}`}>{label}</span>
        )}
        <Key field={field} />
      </div>
      {props.children}
      <Help {...props} />
    </div>
  )
}

/** The name of a field in the request, for people who will send it themselves. */
export function Key({ field }: { field: Field }): JSX.Element {
  return (
    <code class="key" aria-hidden="true">
      {field.name}
    </code>
  )
}

/** Explanation and problem of a field. */
export function Help({ field, form }: FieldProps): JSX.Element {
  const { description } = field.schema
  const problem = form.problems.get(field.pointer)
  return (
    <div id={`${idOf(field)}-help`}>
      {problem && (
        <p class="problem" role="alert">
          {/^[A-Z]/.test(problem) ? problem : `${humanise(field.name)} ${problem}`}
        </p>
      )}
      {description && (
        <p class="help">
          <Prose text={description} />
        </p>
      )}
    </div>
  )
}

/** Id of a field's control. */
export function idOf(field: Field): string {
  return `field${field.pointer.replaceAll('/', '-')}`
}

/** True when the field or a part of it has a problem. */
export function concerns(problems: Problems, { pointer }: Field): boolean {
  return [...problems.keys()].some((path) => path === pointer || path.startsWith(`${pointer}/`))
}
