import { defineError } from '@terrane/core'

export const oneKindOnly = defineError(
  'FORMAT_TAKES_ONE_KIND',
  'invalid',
  (f: { format: string; kinds: readonly string[] }) =>
    `A ${f.format} holds geometries of one kind, and the table has ${f.kinds.join(', ')}`,
  () => ({
    hint: 'Export a view for each kind, or choose GeoPackage, FlatGeobuf, GeoParquet or GeoJSON.',
    errors: [{ path: '/format', message: 'cannot hold these geometries' }],
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

export const classesOnly = defineError(
  'FORMAT_TAKES_CLASSES',
  'invalid',
  () => 'A COG needs all columns of a table of classes in schema public',
  () => ({
    hint: 'Name a table that classifyEmbeddings or clusterEmbeddings made, without columns; or choose another format.',
    errors: [{ path: '/format', message: 'is only for tables of classes' }],
  }),
)

export const classesOffGrid = defineError(
  'CLASSES_NOT_ON_A_GRID',
  'invalid',
  (f: { table: string; why: string }) => `The table "${f.table}" is not one raster: ${f.why}`,
  () => ({
    hint: 'Classify rows of one grid and date (sourceNumbers, since, until), tiled with a stride of their size; or choose a format of polygons, such as GeoPackage.',
    errors: [{ path: '/table', message: 'must have one tile per pixel of a grid' }],
  }),
)
