import { Type, type Static } from 'typebox'
import { aoiGeoJson } from '../aoi.ts'
import { identifier } from '../identifiers.ts'
import { readers } from '../readers.ts'
import { FeatureSource } from './osm-import-area.ts'
import { taskFields } from './task-fields.ts'

const resolution = () => Type.Integer({ minimum: 0, maximum: 15, description: 'H3 resolution.' })
const place = () => Type.String({ minLength: 1, maxLength: 500 })
const embedderName = () => Type.String({ minLength: 1, maxLength: 100 })
const preset = () => Type.String({ minLength: 1, maxLength: 100 })
/** Tag filters are checked by the task, which names an invalid key. */
const tags = () => Type.Record(Type.String(), Type.Unknown(), { maxProperties: 1000 })

/** An embedder and its options; which option belongs to which embedder is checked by the task. */
const Embedder = Type.Object(
  {
    kind: embedderName(),
    subcategories: Type.Optional(
      Type.Boolean({ description: 'Count each value of a key by itself; contextual-count: false, else true.' }),
    ),
    distance: Type.Optional(Type.Integer({ description: 'contextual-count: rings around a cell; 1.' })),
    concat: Type.Optional(
      Type.Boolean({ description: "contextual-count: put the rings' numbers beside the cell's own; false." }),
    ),
    aggregation: Type.Optional(
      Type.Enum(['average', 'median', 'sum', 'min', 'max'], { description: 'contextual-count: of a ring; average.' }),
    ),
    layers: Type.Optional(
      Type.Array(Type.Integer(), { minItems: 1, maxItems: 8, description: 'hex2vec: layer sizes; 150, 75, 50.' }),
    ),
    epochs: Type.Optional(Type.Integer({ description: 'hex2vec: 1 to 100; 3.' })),
    batch: Type.Optional(Type.Integer({ description: 'hex2vec: pairs per step; 32.' })),
    learningRate: Type.Optional(Type.Number({ description: 'hex2vec: of Adam; 0.001.' })),
    negativeDistance: Type.Optional(
      Type.Integer({ description: 'hex2vec: cells within so many rings are not taken as unlike; 2.' }),
    ),
    seed: Type.Optional(Type.Integer({ description: 'hex2vec: the same seed gives the same vectors; 0.' })),
  },
  { additionalProperties: false },
)

const Pipeline = Type.Object(
  {
    dataLoaderArgs: Type.Object(
      {
        query: Type.Union([place(), aoiGeoJson()], { description: 'A place name, or an area as GeoJSON.' }),
        filter: Type.Optional(Type.Union([preset(), tags()], { description: 'A preset name, or tags.' })),
      },
      { additionalProperties: false },
    ),
    regionalizerArgs: Type.Object(
      {
        dgg: Type.Object(
          { kind: Type.Enum(['h3'], { description: 'H3 is the only grid.' }), resolution: resolution() },
          { additionalProperties: false },
        ),
      },
      { additionalProperties: false },
    ),
    fitterArgs: Type.Optional(
      Type.Object({ modelName: Type.Optional(embedderName()) }, { additionalProperties: false }),
    ),
  },
  { additionalProperties: false, description: 'The same request in the shape of a pipeline, instead of flat fields.' },
)

/**
 * Body of `POST /jobs/createSraiEmbeddings`: area, resolution, filter and embedder are at the top level or in
 * `pipeline`. These have no `default` in the schema, because validation would fill in both places.
 */
export const CreateSraiEmbeddings = Type.Object(
  {
    tableName: identifier('Output table in schema geoembeddings; must not exist.'),
    h3Resolution: Type.Optional(resolution()),
    placeQuery: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 500,
        description: 'Name of a place whose outline is the area; needs a geocoder.',
      }),
    ),
    aoiGeoJson: Type.Optional(aoiGeoJson()),
    osmTags: Type.Optional(
      Type.Record(Type.String(), Type.Unknown(), {
        maxProperties: 1000,
        description: 'What to count: {"amenity": ["school", "cafe"], "shop": true}, or such within named groups.',
      }),
    ),
    osmPreset: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        description:
          'A known filter: hex2vec, base_osm_groups, geofabrik_layers or bicycle_parking; hex2vec without tags.',
      }),
    ),
    embedder: Type.Optional(
      Type.Union([embedderName(), Embedder], {
        description: 'count, contextual-count or hex2vec, or one of them with options. Default: count.',
      }),
    ),
    source: Type.Optional(FeatureSource),
    pipeline: Type.Optional(Pipeline),
    uploadArtifactsToStorage: Type.Optional(
      Type.Boolean({ default: false, description: 'Also write GeoParquet and a STAC item to bucket geoembeddings.' }),
    ),
    ...readers(),
    pretrainedModelRunId: Type.Optional(
      Type.Union([Type.String({ maxLength: 200 }), Type.Null()], {
        description: 'Not available: hex2vec is trained in the job. Only null is accepted.',
      }),
    ),
    ...taskFields(),
  },
  { additionalProperties: false, title: 'CreateSraiEmbeddings' },
)
export type CreateSraiEmbeddings = Static<typeof CreateSraiEmbeddings>
