import { defineError } from '@terrane/core'

/** A query string that does not parse, in PostgREST's words. */
export const badQuery = defineError(
  'PGRST100',
  'invalid',
  (f: { parameter: string; detail: string }) => `"failed to parse ${f.parameter}"`,
  (f) => ({ details: f.detail }),
)
