import { defineError } from '@terrane/core'

export const tableNotFound = defineError(
  'TABLE_NOT_FOUND',
  'not_found',
  (f: { schema: string; table: string }) => `There is no table ${f.schema}.${f.table}`,
)

export const noGeometryColumn = defineError(
  'NO_GEOMETRY_COLUMN',
  'invalid',
  (f: { schema: string; table: string }) => `Table ${f.schema}.${f.table} has no geometry column`,
  () => ({ errors: [{ path: '/table', message: 'must have a column of type geometry or geography' }] }),
)

export const propertyNotShown = defineError(
  'PROPERTY_NOT_SHOWN',
  'invalid',
  (f: { index: number; name: string; columns: readonly string[] }) =>
    `Column ${f.name} cannot be an attribute of tiles`,
  (f) => ({
    hint: `Columns that can: ${f.columns.slice(0, 50).join(', ') || 'none'}.`,
    errors: [{ path: `/properties/${f.index}`, message: 'must name a column that tiles can hold' }],
  }),
)

export const tableUnreadable = defineError(
  'TABLE_UNREADABLE',
  'invalid',
  (f: { table: string; reason: string; isSpatial: boolean }) => `Reading ${f.table} failed: ${f.reason.slice(0, 300)}`,
  ({ isSpatial }) => ({
    hint: isSpatial
      ? 'Check that all geometries have an SRID (UpdateGeometrySRID gives one to a column) and lie where it is defined.'
      : 'Mend the view or the row, or name the properties to show without the column that cannot be read.',
  }),
)
