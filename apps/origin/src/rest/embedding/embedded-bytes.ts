import type { Resource } from '@terrane/database/rest-query'

/** Settings that count bytes of a transaction: of embedded lists, and of large rows in them or in the answer. */
const LISTS = 'terrane.embedded_bytes'
const ROWS = { embedded: 'terrane.embedded_row_bytes', answer: 'terrane.row_bytes' } as const
const TOO_MANY = 'ROWS_TOO_LARGE'
/** Assumed number of rows when there is no limit. */
const UNLIMITED_ROWS = 65_536

/** Bounds of a list: bytes, rows, and the counter for its place. */
export interface ListBounds {
  readonly maxBytes: number
  /** Null when there is no limit. */
  readonly maxRows: number | null
  readonly place: keyof typeof ROWS
}

/**
 * SQL of a json value that fails when the embedded rows of the transaction exceed `maxBytes`. A chain of embedded lists
 * multiplies rows, and the server would hold all of them in memory before the limit of the answer is checked. A nested
 * list counts at each level.
 */
export function guarded(value: string, maxBytes: number): string {
  // `offset 0` keeps the value from being computed twice.
  return `(select case when ${fits('g.v', LISTS, maxBytes)} then g.v else ${refusal('g.v', maxBytes)} end from (select ${value} as v offset 0) as g)`
}

/**
 * A list of a column of type json. Rows that could make it larger than `maxBytes` are counted before they are added,
 * because the server would hold up to a gigabyte of them before the limit of the answer is checked. Smaller rows cost
 * only a comparison.
 *
 * @param column of a subquery that ends with `offset 0`, so that it is not computed again each time that it is named
 */
export function listOf(column: string, { maxBytes, maxRows, place }: ListBounds): string {
  const small = Math.floor(maxBytes / Math.max(1, maxRows ?? UNLIMITED_ROWS))
  return `json_agg(case when ${column} is null or pg_column_size(${column}) <= ${small} or ${fits(column, ROWS[place], maxBytes)} then ${column}
    else ${refusal(column, maxBytes)} end)`
}

/** SQL of a row's value. A spread to-one row is read once but repeated in many outer rows, so it counts in each. */
export function valueOf({ embeds }: Pick<Resource, 'embeds'>, value: string, maxBytes: number): string {
  return embeds.some((embed) => embed.isSpread) ? guarded(value, maxBytes) : value
}

/** SQL that adds the bytes of a value to a counter and checks the limit. It needs no function in the database. */
function fits(value: string, counter: string, maxBytes: number): string {
  const total = `coalesce(nullif(current_setting('${counter}', true), ''), '0')::bigint + coalesce(octet_length(${value}::text), 0)`
  return `set_config('${counter}', (${total})::text, true)::bigint <= ${maxBytes}`
}

/** SQL that fails with an invalid cast; the text of the error contains the limit. */
function refusal(value: string, maxBytes: number): string {
  return `to_json(('${TOO_MANY} ${maxBytes} ' || octet_length(${value}::text))::int)`
}

/** The limit in bytes that a failed statement has exceeded; null for other errors. */
export function exceededBytes(error: { readonly code?: unknown; readonly message?: string }): number | null {
  if (error.code !== '22P02') return null
  const limit = new RegExp(`"${TOO_MANY} (\\d+) `).exec(error.message ?? '')?.[1]
  return limit === undefined ? null : Number(limit)
}
