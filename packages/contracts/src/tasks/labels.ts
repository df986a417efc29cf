import { Type, type Static } from 'typebox'
import { existingName, identifier } from '../identifiers.ts'
import { nullable } from '../named.ts'
import { readers } from '../readers.ts'
import { JobWarning } from '../warnings.ts'
import { taskFields } from './task-fields.ts'

const closed = { additionalProperties: false } as const
const className = (description: string) =>
  Type.String({ minLength: 1, maxLength: 100, pattern: '^[^\\u0000-\\u001f\\u007f]+$', description })
const time = (description: string) =>
  Type.String({
    maxLength: 40,
    pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9]{2}:[0-9]{2}(:[0-9]{2}(\\.[0-9]{1,9})?)?(Z|[+-][0-9]{2}:[0-9]{2}))?$',
    description,
  })
/** Fields that select rows of an embeddings table by their sources. */
const rowsOfTable = () => ({
  since: Type.Optional(time('Only rows of sources from this time on.')),
  until: Type.Optional(time('Only rows of sources up to this time.')),
  sourceNumbers: Type.Optional(
    Type.Array(Type.Integer({ minimum: 0, maximum: 2_097_151 }), {
      minItems: 1,
      maxItems: 10_000,
      description: 'Only rows of the sources with these numbers (list_sources).',
    }),
  ),
})
const readersOfResult = (isPublic: string) => readers({ ownerUuid: 'the owner of the embeddings table', isPublic })

/** Body of `POST /jobs/trainClassifier`. */
export const TrainClassifier = Type.Object(
  {
    table: existingName('Table in schema geoembeddings whose vectors are learnt from.'),
    classifier: identifier('Name of the classifier. One that is there gets a new version.'),
    examples: Type.Optional(
      Type.Object(
        {
          table: existingName('Table of points, lines or polygons.'),
          schema: Type.Optional(existingName('Its schema.', { default: 'public' })),
          column: existingName('Column of that table with the class.'),
        },
        { ...closed, description: 'Examples of a table: rows of the embeddings table that they meet.' },
      ),
    ),
    features: Type.Optional(
      Type.Object(
        { type: Type.Enum(['FeatureCollection']), features: Type.Array(Type.Unknown(), { maxItems: 50_000 }) },
        { additionalProperties: true, description: 'Examples as GeoJSON in degrees, with the class in a property.' },
      ),
    ),
    property: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[^\\u0000]+$',
        default: 'class',
        description: 'The property of features with the class.',
      }),
    ),
    ids: Type.Optional(
      Type.Record(
        className('A class.'),
        Type.Array(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }), { maxItems: 50_000 }),
        {
          maxProperties: 256,
          description: 'Examples as ids of rows, by class. They win over other examples of a row.',
        },
      ),
    ),
    classes: Type.Optional(
      Type.Array(className('A class.'), {
        minItems: 2,
        maxItems: 256,
        uniqueItems: true,
        description: 'Only examples of these classes. Default: all.',
      }),
    ),
    minOverlap: Type.Optional(
      Type.Number({
        minimum: 0,
        maximum: 1,
        default: 0,
        description: 'Least share of a row that polygons of its class must cover.',
      }),
    ),
    ...rowsOfTable(),
    head: Type.Optional(
      Type.Enum(['logistic', 'linear', 'knn'], {
        default: 'logistic',
        description:
          'logistic: multinomial logistic regression; linear: least squares; knn: vote of the nearest examples.',
      }),
    ),
    penalty: Type.Optional(
      Type.Number({
        minimum: 1e-6,
        maximum: 1e6,
        default: 0.1,
        description: 'Of logistic and linear: factor of half the squared weights (1 / C of scikit-learn).',
      }),
    ),
    neighbours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 100, default: 5, description: 'Of knn: how many examples vote.' }),
    ),
    blockMeters: Type.Optional(
      Type.Number({
        minimum: 1,
        maximum: 10_000_000,
        description: 'Edge of the blocks that are held out together. Default: four times the diagonal of a row.',
      }),
    ),
    ...readersOfResult(
      'as the embeddings table; false with ownerUuid, and where anon does not read the table of examples',
    ),
    ...taskFields(),
  },
  { ...closed, title: 'TrainClassifier' },
)
export type TrainClassifier = Static<typeof TrainClassifier>

const output = () => ({
  tableName: identifier('Output table in schema public: id, class, probability, geom.'),
  mode: Type.Optional(
    Type.Enum(['create', 'replace', 'update'], {
      default: 'create',
      description:
        'create: the name must be free; replace: takes the place of a table; update: rows of sources that are new or changed since, and the rest stays.',
    }),
  ),
})

/** Body of `POST /jobs/classifyEmbeddings`. */
export const ClassifyEmbeddings = Type.Object(
  {
    table: existingName('Table in schema geoembeddings whose rows get a class.'),
    classifier: identifier('Name of a classifier of vectors that compare with those of the table.'),
    version: Type.Optional(Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'Default: the latest.' })),
    ...output(),
    ...rowsOfTable(),
    ...readersOfResult(
      'as the embeddings table; false with ownerUuid, and where the classifier is not public; a table that is there keeps its readers',
    ),
    ...taskFields(),
  },
  { ...closed, title: 'ClassifyEmbeddings' },
)
export type ClassifyEmbeddings = Static<typeof ClassifyEmbeddings>

/** Body of `POST /jobs/clusterEmbeddings`. */
export const ClusterEmbeddings = Type.Object(
  {
    table: existingName('Table in schema geoembeddings whose rows are grouped.'),
    clusters: Type.Integer({ minimum: 2, maximum: 256, description: 'How many clusters.' }),
    seed: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 4_294_967_295,
        default: 1,
        description: 'The same seed gives the same clusters.',
      }),
    ),
    classifier: Type.Optional(
      identifier('Keeps the centres under this name, for classifyEmbeddings. Default: the name of the output table.'),
    ),
    tableName: identifier('Output table in schema public: id, class (the cluster), probability (null), geom.'),
    mode: Type.Optional(
      Type.Enum(['create', 'replace'], {
        default: 'create',
        description: 'create: the name must be free; replace: takes the place of a table.',
      }),
    ),
    ...rowsOfTable(),
    ...readersOfResult('as the embeddings table; false with ownerUuid; a table that is there keeps its readers'),
    ...taskFields(),
  },
  { ...closed, title: 'ClusterEmbeddings' },
)
export type ClusterEmbeddings = Static<typeof ClusterEmbeddings>

const share = (description: string) => Type.Number({ minimum: 0, maximum: 1, description })
const classifier = {
  classifier: Type.String(),
  version: Type.Integer(),
}
const about = {
  timings: Type.Record(Type.String(), Type.Number(), { description: 'Seconds by phase.' }),
  warnings: Type.Array(JobWarning, { description: 'What a person should know of the result.' }),
}

export const TrainingResult = Type.Object({
  ...classifier,
  head: Type.Enum(['logistic', 'linear', 'knn']),
  table: Type.String(),
  examples: Type.Integer({ description: 'Rows that were learnt from.' }),
  classes: Type.Array(
    Type.Object({
      name: Type.String(),
      examples: Type.Integer(),
      precision: nullable(share('Null where none was held out.')),
      recall: nullable(share('Null where none was held out.')),
      f1: nullable(share('Null where none was held out.')),
    }),
  ),
  validation: nullable(
    Type.Object(
      {
        examples: Type.Integer({ description: 'Examples that were held out.' }),
        folds: Type.Integer(),
        block_meters: Type.Number(),
        gap_meters: Type.Number({ description: 'Examples nearer to a held-out one were not learnt from.' }),
        accuracy: share('Right ones.'),
        macro_f1: share('Mean of the F1 of the classes.'),
        confusion: Type.Array(Type.Array(Type.Integer()), {
          description: 'Rows are true classes, columns predicted ones.',
        }),
        calibration_error: share('Expected calibration error of the probabilities.'),
      },
      {
        description:
          'By blocks on the ground. Null where all examples lie in one block; probabilities are not calibrated then.',
      },
    ),
  ),
  ...about,
})

const classTable = {
  table: Type.String({ description: 'Qualified name.' }),
  rows: Type.Integer({ description: 'Rows of the table.' }),
  classified: Type.Integer({ description: 'Rows that this job wrote.' }),
  removed: Type.Integer({ description: 'Rows that were taken out: of sources that changed or are gone.' }),
  bbox: nullable(
    Type.Array(Type.Number(), { minItems: 4, maxItems: 4, description: 'West, south, east, north in degrees.' }),
  ),
  attribution: Type.String({ description: 'What to write beside a map of these data.' }),
  classes: Type.Array(
    Type.Object({
      name: Type.String(),
      rows: Type.Integer({ description: 'Rows of this job.' }),
      mean_probability: nullable(share('Null without rows, and of clusters.')),
    }),
  ),
}

export const ClassificationResult = Type.Object({ ...classTable, ...classifier, ...about })

export const ClusteringResult = Type.Object({
  ...classTable,
  ...classifier,
  inertia: Type.Number({ description: 'Mean squared distance to the centres, of the rows that were learnt from.' }),
  ...about,
})
