import { defineError } from '@terrane/core'

export const oneKindOnly = defineError(
  'FORMAT_TAKES_ONE_KIND',
  'invalid',
  (f: { format: string; kinds: readonly string[] }) =>
    `A ${f.format} holds geometries of one kind, and the table has ${f.kinds.join(', ')}`,
  () => ({
    hint: 'Export a view for each kind, or choose GeoPackage, FlatGeobuf, GeoParquet or GeoJSON.',
    errors: [{ path: '/format', message: 'does not take these geometries' }],
  }),
)

export const tableOrQuery = defineError(
  'TABLE_OR_QUERY',
  'invalid',
  () => 'An export needs either a table or a query',
  () => ({
    hint: 'Name one of the two: table, or query.',
    errors: [{ path: '/table', message: 'give either this or query' }],
  }),
)
