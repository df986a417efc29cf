import type { JSX } from 'preact'

/** Search in a list of tables. */
export function TableSearch({ value, onValue }: { value: string; onValue: (value: string) => void }): JSX.Element {
  return (
    <input
      class="input"
      type="search"
      aria-label="Find a table"
      placeholder="Find a table"
      value={value}
      onInput={(event) => onValue(event.currentTarget.value)}
    />
  )
}
