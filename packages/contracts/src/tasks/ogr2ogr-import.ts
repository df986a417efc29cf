import { Type, type Static } from 'typebox'
import { identifier } from '../identifiers.ts'
import { IDENTIFIER_PATTERN } from '../names.ts'
import { taskFields } from './task-fields.ts'

const address = () => Type.String({ minLength: 1, maxLength: 4000, description: 'HTTPS URL of the file.' })
const epsg = (description: string, options: { readonly default?: string } = {}) =>
  Type.String({ pattern: '^EPSG:[0-9]{3,6}$', description, ...options })
/** Name of a field, without the commas and quotes at which the conversion engine would split it. */
const fieldName = () => Type.String({ minLength: 1, maxLength: 200, pattern: '^[^,*%"\'\\\\\\u0000-\\u001f]+$' })

/** Body of `POST /jobs/ogr2ogrImport`. */
export const Ogr2ogrImport = Type.Object(
  {
    fileUrl: Type.Optional(address()),
    url: Type.Optional({ ...address(), description: 'The same as fileUrl.' }),
    storagePath: Type.Optional(
      Type.Object(
        { bucket: Type.String({ minLength: 1, maxLength: 100 }), path: Type.String({ minLength: 1, maxLength: 1024 }) },
        { additionalProperties: false, description: 'A file in the storage of the project.' },
      ),
    ),
    tableName: identifier('Table to make; must not exist unless mode says otherwise.'),
    schema: Type.Optional(
      Type.String({
        pattern: IDENTIFIER_PATTERN,
        maxLength: 63,
        default: 'public',
        description: 'Its schema, which exists.',
      }),
    ),
    layer: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[^\\u0000-\\u001f-][^\\u0000-\\u001f]*$',
        description:
          'Layer to import, or "*" for every layer that has rows, each as {tableName}_{layer}. Default: the only layer with rows, or "*" if there are several.',
      }),
    ),
    sourceSrs: Type.Optional(
      epsg(
        'Reference system of the file, in the place of what it says itself; of a file with layers that name none, that of those alone. Coordinates are taken as they are.',
      ),
    ),
    targetSrs: Type.Optional(epsg('Reference system of the table.', { default: 'EPSG:4326' })),
    geometryType: Type.Optional(
      Type.Enum(['auto', 'Point', 'LineString', 'Polygon', 'MultiPoint', 'MultiLineString', 'MultiPolygon'], {
        default: 'auto',
        description: 'Import only geometries of this type, after promotion to a Multi type; others count as rejected.',
      }),
    ),
    promoteToMulti: Type.Optional(
      Type.Boolean({ default: true, description: 'Lines and polygons become multi lines and multi polygons.' }),
    ),
    mode: Type.Optional(
      Type.Enum(['create', 'replace', 'append'], {
        default: 'create',
        description: 'Make a table that must not exist, put a new one in its place, or add rows to one that exists.',
      }),
    ),
    encoding: Type.Optional(
      Type.String({
        pattern: '^[A-Za-z0-9_-]{1,40}$',
        description: 'Character encoding of a Shapefile, a MapInfo file or a CSV, e.g. windows-1252.',
      }),
    ),
    csv: Type.Optional(
      Type.Object(
        { x: Type.Optional(fieldName()), y: Type.Optional(fieldName()), wkt: Type.Optional(fieldName()) },
        {
          additionalProperties: false,
          description:
            'Columns of a CSV, XLSX or ODS that hold coordinates; of a CSV also one of geometries in WKT, GeoJSON or hexadecimal WKB. Usual names are found.',
        },
      ),
    ),
    types: Type.Optional(
      Type.Record(
        fieldName(),
        Type.Enum([
          'text',
          'int4',
          'int8',
          'numeric',
          'float8',
          'bool',
          'date',
          'time',
          'timestamp',
          'timestamptz',
          'jsonb',
        ]),
        {
          maxProperties: 500,
          additionalProperties: false,
          description:
            'Types of columns, by the names of fields, in place of the types that the file states or suggests. Values that a type does not hold become null and are counted in warnings.',
        },
      ),
    ),
    fields: Type.Optional(
      Type.Array(fieldName(), {
        minItems: 1,
        maxItems: 500,
        uniqueItems: true,
        description: 'Fields to import. Default: all.',
      }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_000_000_000, description: 'Most features to import.' })),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'Ogr2ogrImport' },
)
export type Ogr2ogrImport = Static<typeof Ogr2ogrImport>
