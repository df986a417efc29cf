import { Type } from 'typebox'
import { IDENTIFIER_PATTERN } from './names.ts'

/** A PostgreSQL identifier as the tasks accept it. */
export const identifier = (description: string) =>
  Type.String({ pattern: IDENTIFIER_PATTERN, minLength: 1, maxLength: 63, description })
