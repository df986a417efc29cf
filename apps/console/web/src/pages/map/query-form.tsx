import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Check, Form, SelectField } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import type { SearchFrom } from '../../lib/embeddings.ts'
import { formatNumber } from '../../lib/format.ts'
import { readExamples, writeExamples } from './examples.ts'

const COUNTS = [20, 100, 500, 2000, 50_000] as const

/** A search by tile ids instead of a click, and its options. */
export function QueryForm(props: {
  from: SearchFrom | null
  count: number
  /** True when results that nearly repeat others are left out. */
  varied: boolean
  /** True when only the newest of several dates of a place counts. */
  latest: boolean
  onFrom: (from: SearchFrom) => void
  onCount: (count: number) => void
  onVaried: (varied: boolean) => void
  onLatest: (latest: boolean) => void
}): JSX.Element {
  const { from, count, varied, latest, onFrom, onCount, onVaried, onLatest } = props
  const [text, setText] = useState('')
  const given = from && 'like' in from ? writeExamples(from) : ''
  useEffect(() => setText(given), [given])
  return (
    <Form
      class="query-form"
      onSubmit={() => {
        const examples = readExamples(text)
        if (examples) onFrom(examples)
      }}
    >
      <div class="field">
        <label for="query-id">Similar to tile</label>
        <input
          id="query-id"
          class="input nums"
          pattern="\s*-?\d+\s*(,\s*-?\d+\s*)*"
          title="Ids of tiles, separated by commas; a minus before an id excludes similar tiles"
          placeholder={
            from && 'lng' in from ? `${from.lat.toFixed(5)}, ${from.lng.toFixed(5)}` : 'click a tile, or enter its id'
          }
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </div>
      <SelectField
        id="query-count"
        label="Number of results"
        value={String(count)}
        options={COUNTS.map((option) => [String(option), formatNumber(option)])}
        onChoose={(value) => onCount(Number(value))}
      />
      <button type="submit" class="button icon" aria-label="Find similar tiles">
        <Icon name="search" />
      </button>
      <Check label="Diverse" isOn={varied} onChange={onVaried} />
      <Check label="Newest per place" isOn={latest} onChange={onLatest} />
    </Form>
  )
}
