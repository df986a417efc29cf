import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'
import type { SearchFrom } from '../../lib/embeddings.ts'
import { formatNumber } from '../../lib/format.ts'

const COUNTS = [20, 100, 500, 2000, 20_000] as const

/** The same as a click on the map, by the tile's id. */
export function QueryForm(props: {
  from: SearchFrom | null
  count: number
  onFrom: (from: SearchFrom) => void
  onCount: (count: number) => void
}): JSX.Element {
  const { from, count, onFrom, onCount } = props
  const [id, setId] = useState('')
  const given = from === null ? '' : 'id' in from ? from.id : ''
  useEffect(() => setId(given), [given])
  return (
    <form
      class="query-form"
      onSubmit={(event) => {
        event.preventDefault()
        if (/^\d+$/.test(id)) onFrom({ id })
      }}
    >
      <div class="field">
        <label for="query-id">Like tile</label>
        <input
          id="query-id"
          class="input nums"
          inputMode="numeric"
          pattern="\d+"
          placeholder={
            from && 'lng' in from ? `${from.lat.toFixed(5)}, ${from.lng.toFixed(5)}` : 'click one, or its id'
          }
          value={id}
          onInput={(event) => setId(event.currentTarget.value.trim())}
        />
      </div>
      <div class="field">
        <label for="query-count">How many</label>
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
      <button type="submit" class="button icon" aria-label="Find similar tiles">
        <Icon name="search" />
      </button>
    </form>
  )
}
