import { Type, type Static } from 'typebox'
import { ProjectTarget } from '../project-target.ts'
import { strict } from '../warnings.ts'

const zoom = () => Type.Integer({ minimum: 0, maximum: 18 })

/** A name in the database, whatever its characters: it is quoted wherever it is used. */
const existingName = (description: string, options: { readonly default?: string } = {}) =>
  Type.String({ minLength: 1, maxLength: 63, pattern: '^[^\\u0000-\\u001f\\u007f]+$', description, ...options })

/** Body of `POST /jobs/archiveToPmtiles`. */
export const ArchiveToPmtiles = Type.Object(
  {
    table: existingName('Table or view with a geometry column.'),
    schema: Type.Optional(existingName('Its schema.', { default: 'public' })),
    zooms: Type.Optional(
      Type.Union(
        [
          Type.Literal('auto'),
          Type.Array(zoom(), { minItems: 2, maxItems: 2 }),
          Type.Object({ min: zoom(), max: zoom() }, { additionalProperties: false }),
        ],
        {
          default: 'auto',
          description:
            'Lowest and highest zoom, 0 to 18, as [min, max] or {min, max}; or "auto": what the data deserve.',
        },
      ),
    ),
    layerName: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Name of the layer; the table name when absent.' }),
    ),
    properties: Type.Optional(
      Type.Array(existingName('A column.'), {
        maxItems: 200,
        uniqueItems: true,
        description: 'Columns that become attributes; when absent, all that tiles can hold but the primary key.',
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
    maxTileBytes: Type.Optional(
      Type.Integer({
        minimum: 10_000,
        maximum: 10_000_000,
        default: 500_000,
        description: 'Most bytes of a compressed tile. Features are dropped for it below the highest zoom only.',
      }),
    ),
    strict: strict(),
    projectTarget: Type.Optional(ProjectTarget),
  },
  { additionalProperties: false, title: 'ArchiveToPmtiles' },
)
export type ArchiveToPmtiles = Static<typeof ArchiveToPmtiles>
