import type { Resource } from '@terrane/database/rest-query'

/** Counts the bytes of embedded rows in a transaction, while it gathers them. */
const COUNTER = 'terrane.embedded_bytes'
const TOO_MANY = 'EMBEDDED_ROWS_TOO_LARGE'

/**
 * A value of type json that is refused as soon as the embedded rows of the transaction have more than `maxBytes`: a chain of
 * embedded lists multiplies rows, and all of them would be held in the server's memory before the bound of the answer is
 * looked at. A list within a list counts at each level. It needs no function in the database: a cast fails instead.
 */
export function guarded(value: string, maxBytes: number): string {
  const total = `coalesce(nullif(current_setting('${COUNTER}', true), ''), '0')::bigint + coalesce(octet_length(g.v::text), 0)`
  // `offset 0` keeps the value from being computed twice.
  return `(select case when set_config('${COUNTER}', (${total})::text, true)::bigint <= ${maxBytes} then g.v
    else to_json(('${TOO_MANY} ' || octet_length(g.v::text))::int) end from (select ${value} as v offset 0) as g)`
}

/**
 * A list of values of type json, one for each row of a resource. A row of a to-one relationship whose columns are spread stands
 * in many rows around it and is read once, so that the bytes count again in each.
 */
export function listOf({ embeds }: Pick<Resource, 'embeds'>, value: string, maxBytes: number): string {
  return `json_agg(${embeds.some((embed) => embed.isSpread) ? guarded(value, maxBytes) : value})`
}

/** Whether a statement failed because its embedded rows had too many bytes. */
export function isTooLarge(error: { readonly code?: unknown; readonly message?: string }): boolean {
  return error.code === '22P02' && error.message?.includes(`"${TOO_MANY} `) === true
}
