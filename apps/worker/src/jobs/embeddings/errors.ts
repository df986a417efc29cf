import { defineError } from '@terrane/core'

export const reservedName = defineError(
  'RESERVED_NAME',
  'invalid',
  (f: { name: string }) => `The table name ${f.name} is reserved`,
  () => ({ hint: 'Choose another tableName.', errors: [{ path: '/tableName', message: 'is reserved' }] }),
)
