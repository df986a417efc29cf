import type { Resource } from '@terrane/database/rest-query'

/** Settings that count bytes in a transaction while lists are gathered: of lists that are embedded, of large rows in them, and of large rows of the answer. */
const LISTS = 'terrane.embedded_bytes'
const ROWS = { embedded: 'terrane.embedded_row_bytes', answer: 'terrane.row_bytes' } as const
const TOO_MANY = 'ROWS_TOO_LARGE'
/** Rows that are reckoned with where nothing limits their number. */
const UNLIMITED_ROWS = 65_536

/** How many bytes a list may have, in how many rows at most, and where it stands. */
export interface ListBounds {
  readonly maxBytes: number
  /** Null where nothing limits them. */
  readonly maxRows: number | null
  readonly place: keyof typeof ROWS
}

/**
 * A value of type json that is refused as soon as the embedded rows of the transaction have more than `maxBytes`: a chain of
 * embedded lists multiplies rows, and all of them would be held in the server's memory before the bound of the answer is
 * looked at. A list within a list counts at each level.
 */
export function guarded(value: string, maxBytes: number): string {
  // `offset 0` keeps the value from being computed twice.
  return `(select case when ${fits('g.v', LISTS, maxBytes)} then g.v else ${refusal('g.v', maxBytes)} end from (select ${value} as v offset 0) as g)`
}

/**
 * A list of a column of type json. Rows that could make it larger than `maxBytes` are counted before they join it: the server
 * would hold a gigabyte of them before the bound of the answer is looked at. Smaller ones cost no more than a comparison.
 *
 * @param column of a subquery that ends with `offset 0`, so that it is not computed again each time that it is named
 */
export function listOf(column: string, { maxBytes, maxRows, place }: ListBounds): string {
  const small = Math.floor(maxBytes / Math.max(1, maxRows ?? UNLIMITED_ROWS))
  return `json_agg(case when ${column} is null or pg_column_size(${column}) <= ${small} or ${fits(column, ROWS[place], maxBytes)} then ${column}
    else ${refusal(column, maxBytes)} end)`
}

/**
 * A value of a row of a resource. A row of a to-one relationship whose columns are spread stands in many rows around it and is
 * read once, so that the bytes count again in each.
 */
export function valueOf({ embeds }: Pick<Resource, 'embeds'>, value: string, maxBytes: number): string {
  return embeds.some((embed) => embed.isSpread) ? guarded(value, maxBytes) : value
}

/** Adds the bytes of a value to a counter. It needs no function in the database. */
function fits(value: string, counter: string, maxBytes: number): string {
  const total = `coalesce(nullif(current_setting('${counter}', true), ''), '0')::bigint + coalesce(octet_length(${value}::text), 0)`
  return `set_config('${counter}', (${total})::text, true)::bigint <= ${maxBytes}`
}

/** Fails as a cast, whose text names the limit. */
function refusal(value: string, maxBytes: number): string {
  return `to_json(('${TOO_MANY} ${maxBytes} ' || octet_length(${value}::text))::int)`
}

/** The most bytes that the rows of a statement might have, where it failed because they had more; null for any other error. */
export function exceededBytes(error: { readonly code?: unknown; readonly message?: string }): number | null {
  if (error.code !== '22P02') return null
  const limit = new RegExp(`"${TOO_MANY} (\\d+) `).exec(error.message ?? '')?.[1]
  return limit === undefined ? null : Number(limit)
}
