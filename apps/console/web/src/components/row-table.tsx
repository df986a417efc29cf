import type { JSX } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { formatNumber } from '../lib/format.ts'
import type { Row } from '../lib/sql.ts'
import { Button, IconButton } from './basics.tsx'

/** Maximum characters of a cell. Geometries and vectors are cut off. */
const MAX_TEXT = 80

/** The column by which rows are sorted; null for none. */
export interface Sort {
  readonly column: string | null
  readonly isDescending: boolean
}

/** Changes cells: `edit` returns whether the change was stored. An empty text means null. */
export interface CellEditor {
  readonly canEdit: (row: Row, column: string) => boolean
  readonly edit: (row: Row, column: string, to: string | null) => Promise<boolean>
}

/**
 * A table of rows. `onSort` makes column heads sort, `onRow` makes rows selectable, and `editor` makes cells editable.
 */
export function RowTable(props: {
  rows: readonly Row[]
  sort?: Sort
  onSort?: (column: string) => void
  onRow?: (row: Row) => void
  editor?: CellEditor | undefined
}): JSX.Element {
  const { rows, sort, onSort, onRow, editor } = props
  const columns = Object.keys(rows[0] ?? {})
  const numeric = new Set(columns.filter((column) => rows.some((row) => typeof row[column] === 'number')))
  return (
    <div class="scroll-x" tabIndex={0} role="region" aria-label="Rows">
      <table class="table small">
        <thead>
          <tr>
            {onRow && (
              <th>
                <span class="visually-hidden">Map</span>
              </th>
            )}
            {columns.map((column) => (
              <Head
                key={column}
                column={column}
                isNumeric={numeric.has(column)}
                {...(sort && { sort })}
                {...(onSort && { onSort })}
              />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={i}>
              {onRow && (
                <td>
                  <IconButton label={`Show row ${i + 1} on the map`} icon="locate" onClick={() => onRow(row)} />
                </td>
              )}
              {columns.map((column) => (
                <td key={column} class={numeric.has(column) ? 'num' : ''}>
                  {editor?.canEdit(row, column) ? (
                    <Field
                      key={textOf(row[column])}
                      text={textOf(row[column])}
                      label={`${column} of row ${i + 1}`}
                      onText={(to) => editor.edit(row, column, to)}
                    />
                  ) : (
                    cell(row[column])
                  )}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** Rows per page. */
const PAGE = 50

/** Moves between pages of rows. */
export function Pager(props: { offset: number; count: number; onOffset: (offset: number) => void }): JSX.Element {
  const { offset, count, onOffset } = props
  return (
    <div class="row">
      <Button kind="small" disabled={offset === 0} onClick={() => onOffset(offset - PAGE)}>
        Previous
      </Button>
      <span class="small dim nums">
        {count > 0 ? `Rows ${formatNumber(offset + 1)} to ${formatNumber(offset + count)}` : 'No rows here'}
      </span>
      <Button kind="small" disabled={count < PAGE} onClick={() => onOffset(offset + PAGE)}>
        Next
      </Button>
    </div>
  )
}

function Head(props: {
  column: string
  isNumeric: boolean
  sort?: Sort
  onSort?: (column: string) => void
}): JSX.Element {
  const { column, isNumeric, sort, onSort } = props
  const order = sort?.column === column ? (sort.isDescending ? 'descending' : 'ascending') : null
  return (
    <th class={isNumeric ? 'num' : ''} {...(order && { 'aria-sort': order })}>
      {onSort ? (
        <button type="button" onClick={() => onSort(column)}>
          {column}
          {order && (order === 'descending' ? ' ↓' : ' ↑')}
        </button>
      ) : (
        column
      )}
    </th>
  )
}

/** An editable cell. It is stored on blur or Enter; Escape or a refused change restores its value. */
function Field(props: {
  text: string | null
  label: string
  onText: (to: string | null) => Promise<boolean>
}): JSX.Element {
  const { text, label, onText } = props
  const box = useRef<HTMLInputElement>(null)
  // Rows are read again after each change, which must not undo what is being typed.
  useLayoutEffect(() => {
    if (box.current && box.current !== document.activeElement) box.current.value = text ?? ''
  })
  const take = async (input: HTMLInputElement) => {
    if (!(await onText(input.value === '' ? null : input.value))) input.value = text ?? ''
  }
  return (
    <input
      class="input cell"
      aria-label={label}
      placeholder={text === null ? 'no value' : 'empty text'}
      ref={box}
      onChange={(event) => void take(event.currentTarget)}
      onKeyDown={(event) => {
        if (event.key === 'Enter') event.currentTarget.blur()
        if (event.key === 'Escape') event.currentTarget.value = text ?? ''
      }}
    />
  )
}

/** A value as text that the server can parse; null for a missing value. */
export function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '–'
  if (typeof value === 'object' && 'type' in value && 'coordinates' in value) return String(value.type)
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)} …` : text
}
