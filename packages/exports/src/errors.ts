import { defineError } from '@terrane/core'

export const columnNotThere = defineError(
  'PROPERTY_NOT_SHOWN',
  'invalid',
  (f: { index: number; name: string; columns: readonly string[] }) =>
    `There is no column ${f.name} that can be exported`,
  (f) => ({
    hint: `Columns that can be exported: ${f.columns.slice(0, 50).join(', ') || 'none'}.`,
    errors: [{ path: `/columns/${f.index}`, message: 'must name a column' }],
  }),
)

export const columnRepeated = defineError(
  'PROPERTY_REPEATED',
  'invalid',
  (f: { index: number; name: string }) => `The column ${f.name} is named more than once`,
  (f) => ({
    hint: 'Name each column once.',
    errors: [{ path: `/columns/${f.index}`, message: 'must not repeat a column' }],
  }),
)

export const queryRefused = defineError(
  'QUERY_REFUSED',
  'invalid',
  (f: { reason: string }) => `The query cannot be exported: ${f.reason.slice(0, 300)}`,
  () => ({
    hint: 'Send one SELECT (or VALUES, or WITH … SELECT) whose columns have different names; it runs read-only as service_role.',
    errors: [{ path: '/query', message: 'must be one statement that reads' }],
  }),
)

export const queryTimeout = defineError(
  'QUERY_TIMEOUT',
  'too_slow',
  (f: { seconds: number }) => `The query took longer than ${f.seconds} s`,
  () => ({ hint: 'Raise queryTimeoutSeconds, or let the query read less.' }),
)

export const geometriesChanged = defineError(
  'TABLE_CHANGED',
  'unavailable',
  (f: { table: string }) =>
    `Geometries of another type or reference system were written to ${f.table} while it was read`,
  () => ({
    hint: 'Try again. A column of a declared type, such as geometry(MultiPolygon, 4326), can be exported while it changes.',
  }),
)
