import { defineError } from '@terrane/core'

export const noGeometryColumn = defineError(
  'NO_GEOMETRY_COLUMN',
  'invalid',
  (f: { schema: string; table: string; path?: string }) => `Table ${f.schema}.${f.table} has no geometry column`,
  (f) => ({ errors: [{ path: `${f.path ?? ''}/table`, message: 'must have a column of type geometry or geography' }] }),
)

export const propertyNotShown = defineError(
  'PROPERTY_NOT_SHOWN',
  'invalid',
  (f: { path?: string; index: number; name: string; columns: readonly string[] }) =>
    `Column ${f.name} cannot be an attribute of tiles`,
  (f) => ({
    hint: `Columns that can: ${f.columns.slice(0, 50).join(', ') || 'none'}.`,
    errors: [{ path: `${f.path ?? ''}/properties/${f.index}`, message: 'must name a column that tiles can hold' }],
  }),
)

export const propertyNotAttribute = defineError(
  'PROPERTY_NOT_SHOWN',
  'invalid',
  (f: { property: string; path: string; attributes: readonly string[] }) =>
    `${f.property} is not a property of its layer`,
  (f) => ({
    hint: `Name one of ${f.attributes.slice(0, 50).join(', ') || 'none'}; the field properties selects them.`,
    errors: [{ path: f.path, message: 'must name a property of the layer' }],
  }),
)

export const badFilter = defineError(
  'BAD_FILTER',
  'invalid',
  (f: { reason: string; path: string }) => `The filter cannot be used: ${f.reason.slice(0, 300)}`,
  (f) => ({
    hint: 'Write it as the query of /rest/v1: column=operator.value, joined by &.',
    errors: [{ path: f.path, message: 'must be a filter of columns of the table' }],
  }),
)

export const tableUnreadable = defineError(
  'TABLE_UNREADABLE',
  'invalid',
  (f: { table: string; reason: string; isSpatial: boolean }) => `Reading ${f.table} failed: ${f.reason.slice(0, 300)}`,
  ({ isSpatial }) => ({
    hint: isSpatial
      ? 'Check that all geometries have an SRID (UpdateGeometrySRID gives one to a column) and coordinates that it is defined for.'
      : 'Correct the view or the row, or name in properties only columns that can be read.',
  }),
)
