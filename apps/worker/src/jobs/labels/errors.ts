import { defineError } from '@terrane/core'

export const vectorTableMissing = defineError(
  'EMBEDDING_TABLE_NOT_FOUND',
  'not_found',
  (f: { table: string }) => `There is no embeddings table "${f.table}"`,
  () => ({
    hint: 'embeddings_catalogue in schema geoembeddings lists them.',
    errors: [{ path: '/table', message: 'is not an embeddings table' }],
  }),
)

export const classifierMissing = defineError(
  'CLASSIFIER_NOT_FOUND',
  'not_found',
  (f: { classifier: string; version: number | null }) =>
    `There is no classifier "${f.classifier}"${f.version === null ? '' : ` of version ${f.version}`}`,
  (f) => ({
    hint: 'classifiers in schema geoembeddings lists them; trainClassifier makes one.',
    errors: [{ path: f.version === null ? '/classifier' : '/version', message: 'does not exist' }],
  }),
)

export const classifierUnfit = defineError(
  'CLASSIFIER_NOT_COMPARABLE',
  'invalid',
  (f: { classifier: string; why: string; hint: string | undefined }) =>
    `The classifier "${f.classifier}" does not fit these vectors: ${f.why}`,
  (f) => ({
    hint: f.hint ?? 'Train one on this table, or use a table of the same model.',
    errors: [{ path: '/classifier', message: 'was trained on other vectors' }],
  }),
)

export const classifierTaken = defineError(
  'CLASSIFIER_EXISTS',
  'conflict',
  (f: { classifier: string }) => `The classifier "${f.classifier}" belongs to another user`,
  () => ({ hint: 'Choose another name.', errors: [{ path: '/classifier', message: 'belongs to another user' }] }),
)

export const examplesNeeded = defineError(
  'EXAMPLES_NEEDED',
  'invalid',
  () => 'One of examples, features and ids is needed',
  () => ({ errors: [{ path: '/examples', message: 'examples, features or ids is needed' }] }),
)

export const sourcesUnknown = defineError(
  'SOURCES_UNKNOWN',
  'invalid',
  (f: { why: string }) => `No row is chosen: ${f.why}`,
  () => ({
    hint: 'list_sources in schema geoembeddings lists the sources of a table with their dates.',
    errors: [{ path: '/sourceNumbers', message: 'sourceNumbers, since and until choose no source' }],
  }),
)

export const columnUnknown = defineError(
  'COLUMN_MISSING',
  'invalid',
  (f: { table: string; column: string; columns: readonly string[] }) =>
    `The table "${f.table}" has no column "${f.column}"; it has ${f.columns.join(', ')}`,
  () => ({ errors: [{ path: '/examples/column', message: 'is not a column of the table' }] }),
)

export const geometryMissing = defineError(
  'NO_GEOMETRY_COLUMN',
  'invalid',
  (f: { table: string }) => `The table "${f.table}" has no geometry`,
  () => ({ errors: [{ path: '/examples/table', message: 'has no geometry' }] }),
)

export const featuresInvalid = defineError(
  'FEATURES_INVALID',
  'invalid',
  (f: { why: string; path: readonly (string | number)[] }) =>
    `The features cannot be read: ${[...f.path, f.why].join(' ')}`,
  (f) => ({
    hint: 'Send GeoJSON features in degrees.',
    errors: [{ path: ['/features', ...f.path].join('/'), message: f.why }],
  }),
)

export const examplesInvalid = defineError(
  'EXAMPLES_INVALID',
  'invalid',
  (f: { table: string; why: string }) => `The examples of "${f.table}" cannot be read: ${f.why}`,
  () => ({
    hint: 'Give points, lines or polygons of a known reference system that has degrees for all of them.',
    errors: [{ path: '/examples/table', message: 'has geometries that cannot be transformed to degrees' }],
  }),
)

export const classesNeeded = defineError(
  'CLASSES_NEEDED',
  'invalid',
  (f: { classes: readonly string[]; why: string }) =>
    `Two classes are needed, and the examples have ${f.classes.length === 0 ? 'none' : `only "${f.classes[0]!}"`}${f.why}`,
  () => ({ hint: 'Give examples of two or more classes on rows of the embeddings table.' }),
)

export const classUnknown = defineError(
  'CLASS_UNKNOWN',
  'invalid',
  (f: { names: readonly string[]; known: readonly string[] }) =>
    `The examples have no class ${f.names.map((name) => `"${name}"`).join(', ')}; they have ${
      f.known
        .slice(0, 20)
        .map((name) => `"${name}"`)
        .join(', ') || 'none'
    }`,
  () => ({ errors: [{ path: '/classes', message: 'names classes without examples' }] }),
)

export const tooManyClasses = defineError(
  'TOO_MANY_CLASSES',
  'too_large',
  (f: { classes: number; dims: number; limit: number }) =>
    `${f.classes} classes are too many for vectors of ${f.dims} dimensions; the limit is ${f.limit}`,
  () => ({ hint: 'Name fewer classes, or use a column with fewer values.' }),
)

export const tooManyExamples = defineError(
  'TOO_MANY_EXAMPLES',
  'too_large',
  (f: { why: string }) => `The examples ${f.why}`,
  () => ({ hint: 'Give fewer or smaller examples, or choose sources.' }),
)

export const tooFewRows = defineError(
  'TOO_FEW_ROWS',
  'invalid',
  (f: { rows: number; clusters: number }) =>
    `Only ${f.rows} rows have a vector other than zero, too few for ${f.clusters} clusters`,
  () => ({
    hint: 'Ask for fewer clusters.',
    errors: [{ path: '/clusters', message: 'must be at most the number of rows' }],
  }),
)

export const notClassTable = defineError(
  'NOT_A_CLASS_TABLE',
  'invalid',
  (f: { table: string; why: string }) => `The table "${f.table}" cannot be updated: ${f.why}`,
  () => ({
    hint: 'Use mode create for another table, or mode replace for this one.',
    errors: [{ path: '/tableName', message: 'is not a table of classes of this table and classifier' }],
  }),
)
