import { defineError } from '@terrane/core'

/** A webhook or table hook names no target, or two. */
export const targetAmbiguous = defineError(
  'TARGET_REQUIRED',
  'invalid',
  () => 'A webhook needs either url or function',
  () => ({ errors: [{ path: '/url', message: 'give either this or function' }] }),
)

/** Changes of the table cannot be reported: it does not exist, has no primary key, or accepts no trigger. */
export const tableNotHooked = defineError(
  'TABLE_NOT_HOOKED',
  'invalid',
  (f: { table: string; reason: string }) => `Changes of ${f.table} cannot be reported: ${f.reason}`,
  () => ({
    hint: 'Name a table of the project that has a primary key.',
    errors: [{ path: '/table', message: 'must be a table with a primary key' }],
  }),
)

/** A hook names a column that its table does not have. */
export const columnUnknown = defineError(
  'COLUMN_UNKNOWN',
  'invalid',
  (f: { path: string; name: string }) => `The table has no column ${f.name.slice(0, 63)}`,
  (f) => ({ errors: [{ path: f.path, message: 'must name columns of the table' }] }),
)

/** A condition holds text that PostgreSQL cannot store. */
export const whereInvalid = defineError(
  'WHERE_INVALID',
  'invalid',
  () => 'where contains text that PostgreSQL cannot store',
  () => ({
    errors: [{ path: '/where', message: 'must not contain the character \\u0000 or half of a surrogate pair' }],
  }),
)

/** The trigger could not be installed, because a long transaction writes to the table. */
export const tableBusy = defineError(
  'TABLE_BUSY',
  'unavailable',
  (f: { table: string }) => `Table ${f.table} is locked by a long transaction`,
  () => ({ hint: 'Try again in a few seconds.' }),
)
