import { Type } from 'typebox'
import { IDENTIFIER_PATTERN } from './names.ts'

/** A PostgreSQL identifier as the tasks accept it. */
export const identifier = (description: string) =>
  Type.String({ pattern: IDENTIFIER_PATTERN, minLength: 1, maxLength: 63, description })

/** Name of an existing database object: any but control characters. It is quoted wherever it is used. */
export const existingName = (
  description: string,
  options: { readonly default?: string; readonly examples?: string[] } = {},
) => Type.String({ minLength: 1, maxLength: 63, pattern: '^[^\\u0000-\\u001f\\u007f]+$', description, ...options })
