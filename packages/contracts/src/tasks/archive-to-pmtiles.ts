import { Type, type Static } from 'typebox'
import { existingName } from '../identifiers.ts'
import { taskFields } from './task-fields.ts'

const zoom = () => Type.Integer({ minimum: 0, maximum: 18 })

const zooms = (description: string, options: { readonly default?: string } = {}) =>
  Type.Optional(
    Type.Union(
      [
        Type.Literal('auto'),
        Type.Array(zoom(), { minItems: 2, maxItems: 2 }),
        Type.Object({ min: zoom(), max: zoom() }, { additionalProperties: false }),
      ],
      { description, ...options },
    ),
  )

/** Fields that each layer of an archive has. */
const layer = () => ({
  schema: Type.Optional(existingName('Its schema.', { default: 'public' })),
  layerName: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Name of the layer. Default: the table name.' }),
  ),
  properties: Type.Optional(
    Type.Array(existingName('A column.'), {
      maxItems: 200,
      uniqueItems: true,
      description: 'Columns that become attributes. Default: all that tiles can hold, except the primary key.',
    }),
  ),
  filter: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4000,
      description:
        'Rows to show, as a query of /rest/v1 says it: population=gt.1000&kind=in.(city,town). Limits and orders are not filters.',
    }),
  ),
  dropRate: Type.Optional(
    Type.Number({
      minimum: 1,
      maximum: 10,
      default: 1,
      description:
        'Points: of so many one is kept for each zoom below the highest. 1 keeps all that can be told apart; 2.5 is what tippecanoe does by itself.',
    }),
  ),
  rankBy: Type.Optional(
    Type.Object(
      {
        property: existingName('A property of numbers.'),
        order: Type.Optional(
          Type.Enum(['largest', 'smallest'], { default: 'largest', description: 'Which of them stay.' }),
        ),
      },
      {
        additionalProperties: false,
        description:
          'Property that decides which features stay where points are thinned or a tile would be too large. Default: position and size.',
      },
    ),
  ),
  cluster: Type.Optional(
    Type.Object(
      {
        distance: Type.Optional(
          Type.Number({
            minimum: 1,
            maximum: 1000,
            default: 50,
            description: 'Radius in pixels of a tile drawn 512 pixels wide: twice the number that tippecanoe takes.',
          }),
        ),
        maxZoom: Type.Optional(
          Type.Integer({
            minimum: 0,
            maximum: 17,
            description: 'The last zoom with clusters. Default: one below the highest of the layer.',
          }),
        ),
        minPoints: Type.Optional(Type.Integer({ minimum: 2, maximum: 1000, default: 2 })),
        aggregates: Type.Optional(
          Type.Array(
            Type.Object(
              {
                property: existingName('A property of numbers.'),
                operation: Type.Enum(['sum', 'mean', 'min', 'max']),
              },
              { additionalProperties: false },
            ),
            { maxItems: 20, description: 'Properties that a cluster has of its points, under their own names.' },
          ),
        ),
      },
      {
        additionalProperties: false,
        description:
          'Joins points that are near each other into one, with cluster, point_count and point_count_abbreviated.',
      },
    ),
  ),
})

/** A further layer of an archive. */
const ArchiveLayer = Type.Object(
  {
    table: existingName('Table or view with a geometry column.'),
    zooms: zooms('Zooms of the layer. Default: those of the archive.'),
    ...layer(),
  },
  { additionalProperties: false },
)

/** Body of `POST /jobs/archiveToPmtiles`. */
export const ArchiveToPmtiles = Type.Object(
  {
    table: existingName('Table or view with a geometry column: the first layer.'),
    zooms: zooms(
      'Lowest and highest zoom, 0 to 18, as [min, max] or {min, max}; or "auto": chosen by the density of the data.',
      {
        default: 'auto',
      },
    ),
    ...layer(),
    layers: Type.Optional(
      Type.Array(ArchiveLayer, {
        maxItems: 31,
        description: 'Further tables or views, each a layer of the same archive.',
      }),
    ),
    archiveName: Type.Optional(
      existingName('Name of the object in the bucket, without .pmtiles. Default: the table name.'),
    ),
    maxTileBytes: Type.Optional(
      Type.Integer({
        minimum: 10_000,
        maximum: 10_000_000,
        default: 500_000,
        description: 'Most bytes of a compressed tile. Features are dropped for it below the highest zoom only.',
      }),
    ),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'ArchiveToPmtiles' },
)
export type ArchiveToPmtiles = Static<typeof ArchiveToPmtiles>
