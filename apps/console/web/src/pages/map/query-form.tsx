import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
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
    <form
      class="query-form"
      onSubmit={(event) => {
        event.preventDefault()
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
      <CountSelect count={count} onCount={onCount} />
      <button type="submit" class="button icon" aria-label="Find similar tiles">
        <Icon name="search" />
      </button>
      <label class="check">
        <input type="checkbox" checked={varied} onChange={(event) => onVaried(event.currentTarget.checked)} />
        Diverse
      </label>
      <label class="check">
        <input type="checkbox" checked={latest} onChange={(event) => onLatest(event.currentTarget.checked)} />
        Newest per place
      </label>
    </form>
  )
}

function CountSelect({ count, onCount }: { count: number; onCount: (count: number) => void }): JSX.Element {
  return (
    <div class="field">
      <label for="query-count">Number of results</label>
      <select
        id="query-count"
        class="select"
        value={String(count)}
        onChange={(event) => onCount(Number(event.currentTarget.value))}
      >
        {COUNTS.map((option) => (
          <option key={option} value={String(option)}>
            {formatNumber(option)}
          </option>
        ))}
      </select>
    </div>
  )
}
