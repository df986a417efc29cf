import { invalidCursor } from '../errors.ts'

/** The place after a row in a list that is ordered by time and id. */
export interface Cursor {
  /** UTC with microseconds, as {@link CURSOR_TIME} writes it. */
  readonly at: string
  readonly id: string
}

/** SQL of a time as a cursor carries it: `created_at` by all its digits. */
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
  // A day such as the 31st of February would pass as one of March, but not on the server.
  const time = at === '' ? null : new Date(at)
  if (!time || Number.isNaN(time.getTime()) || time.toISOString().slice(0, 23) !== at.slice(0, 23))
    throw invalidCursor()
  return { at, id }
}

/** A page of rows, and where the next one begins. One row more than `limit` must have been read. */
export function pageOf<Row extends { readonly id: string; readonly cursor_at: string }>(
  rows: readonly Row[],
  limit: number,
): { rows: Row[]; nextCursor: string | null } {
  const last = rows.length > limit ? rows[limit - 1] : undefined
  return { rows: rows.slice(0, limit), nextCursor: last ? encodeCursor({ at: last.cursor_at, id: last.id }) : null }
}
