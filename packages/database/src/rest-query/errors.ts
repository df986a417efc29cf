import { defineError } from '@terrane/core'

/** A query string that does not parse, in PostgREST's words. */
export const badQuery = defineError(
  'PGRST100',
  'invalid',
  (f: { parameter: string; detail: string }) => `"failed to parse ${f.parameter}"`,
  (f) => ({ details: f.detail }),
)

/** A filter, an order or a limit of a resource that `select` does not embed. */
export const notEmbedded = defineError(
  'PGRST108',
  'invalid',
  (f: { name: string }) => `'${f.name}' is not an embedded resource in this request`,
  (f) => ({
    hint: `Embed '${f.name}' by the 'select' parameter. Put a column name with a dot in double quotes.`,
  }),
)
