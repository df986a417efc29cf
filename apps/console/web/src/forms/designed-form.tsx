import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Segmented } from '../components/basics.tsx'
import { designOf } from './designs.ts'
import { emptyDraft, isEntered, type Draft, type GroupDraft, type Problems } from './drafts.ts'
import { FieldView, isWide } from './field-view.tsx'
import type { Field, GroupField } from './fields.ts'
import { concerns } from './frame.tsx'

/** A task's form: its input sources, then the main fields, then the rest under Advanced. */
export function DesignedForm(props: {
  task: string
  field: GroupField
  draft: GroupDraft
  problems: Problems
  suggestions: Readonly<Record<string, readonly string[]>>
  projectRef: string
  onChange: (draft: Draft) => void
}): JSX.Element {
  const { task, field, draft, onChange, ...rest } = props
  const design = designOf(
    task,
    field.fields.filter(({ required }) => required).map(({ name }) => name),
  )
  const { sources = [], hidden = [] } = design
  const byName = new Map(field.fields.map((inner) => [inner.name, inner]))
  const draftFor = (inner: Field) => draft.group[inner.name] ?? emptyDraft(inner)
  const given = sources.find(({ name }) => isGiven(byName.get(name), draft))?.name
  const [source, setSource] = useState(given ?? sources[0]?.name ?? '')
  // Fields that were sent before are shown even if the design hides them.
  const isShown = (inner: Field) => !hidden.includes(inner.name) || isGiven(inner, draft)
  const lead = design.first.map((name) => byName.get(name)).filter((inner) => inner !== undefined)
  const apart = new Set([...lead.map(({ name }) => name), ...sources.map(({ name }) => name)])
  const others = field.fields.filter((inner) => !apart.has(inner.name) && isShown(inner))
  const isOpen = others.some((inner) => isGiven(inner, draft) || concerns(rest.problems, inner))
  const show = (inner: Field) => (
    <div key={inner.pointer} class={isWide(inner) ? 'wide' : ''}>
      <FieldView
        {...rest}
        reads={sources.some(({ name }) => name === inner.name)}
        field={inner}
        draft={draftFor(inner)}
        onChange={(next) => onChange({ group: { ...draft.group, [inner.name]: next } })}
      />
    </div>
  )
  const chooseSource = (name: string) => {
    setSource(name)
    // Only one of the sources is sent.
    const emptied = sources.flatMap((other) => {
      const inner = other.name === name ? undefined : byName.get(other.name)
      return inner ? [[inner.name, emptyDraft(inner)] as const] : []
    })
    onChange({ group: { ...draft.group, ...Object.fromEntries(emptied) } })
  }
  const shownSource = byName.get(source)
  return (
    <>
      {sources.length > 0 && (
        <div class="wide">
          <Segmented
            label="Where it comes from"
            value={source}
            onChange={chooseSource}
            options={sources.map(({ name, label }) => ({ value: name, label }))}
          />
        </div>
      )}
      {shownSource && show(shownSource)}
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

function isGiven(field: Field | undefined, { group }: GroupDraft): boolean {
  if (!field) return false
  const draft = group[field.name]
  return draft !== undefined && isEntered(field, draft)
}
