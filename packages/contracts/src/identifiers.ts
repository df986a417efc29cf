import { Type } from 'typebox'

/** What a table name must look like: lower case, at most 63 bytes, so that it needs no quotes anywhere. */
export const IDENTIFIER_PATTERN = '^[a-z][a-z0-9_]{0,62}$'

/** A PostgreSQL identifier as the tasks accept it. */
export const identifier = (description: string) =>
  Type.String({ pattern: IDENTIFIER_PATTERN, minLength: 1, maxLength: 63, description })
