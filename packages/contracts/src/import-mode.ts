import { Type } from 'typebox'

/** Schema of `mode` of an import that makes several tables. */
export function importMode() {
  return Type.Optional(
    Type.Enum(['create', 'replace'], {
      default: 'create',
      description: 'Make tables, whose names must be free, or replace existing ones.',
    }),
  )
}
