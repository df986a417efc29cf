import { invalidCursor } from '../errors.ts'

/** Position after a row in a list that is ordered by time and id. */
export interface Cursor {
  /** UTC with microseconds, as {@link CURSOR_TIME} writes it. */
  readonly at: string
  readonly id: string
}

/** SQL of the time in a cursor: `created_at` with all digits. */
export const CURSOR_TIME = `to_char(created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`

function encodeCursor({ at, id }: Cursor): string {
  return Buffer.from(`${at} ${id}`).toString('base64url')
}

/** @throws INVALID_CURSOR */
export function decodeCursor(cursor: string): Cursor {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(
    Buffer.from(cursor, 'base64url').toString('utf8'),
  )
  const [, at = '', id = ''] = found ?? []
  // JavaScript reads 31 February as a day of March, but the server refuses such a date.
  const time = at === '' ? null : new Date(at)
  if (!time || Number.isNaN(time.getTime()) || time.toISOString().slice(0, 23) !== at.slice(0, 23))
    throw invalidCursor()
  return { at, id }
}

/** A page of rows, and the cursor of the next page. The query must have read one row more than `limit`. */
export function pageOf<Row extends { readonly id: string; readonly cursor_at: string }>(
  rows: readonly Row[],
  limit: number,
): { rows: Row[]; nextCursor: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), nextCursor: last ? encodeCursor({ at: last.cursor_at, id: last.id }) : null }
}
