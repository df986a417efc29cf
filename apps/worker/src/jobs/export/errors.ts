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
