import { defineError } from '@terrane/core'

export const saidMoreThanOnce = defineError(
  'CONFLICTING_FIELDS',
  'invalid',
  (f: { what: string; paths: readonly string[] }) =>
    `The ${f.what} is given in more than one field: ${names(f.paths)}.`,
  (f) => ({
    hint: 'Send one of them.',
    errors: f.paths.map((path) => ({ path, message: `the ${f.what} may be given once` })),
  }),
)

export const notSaid = defineError(
  'MISSING_FIELD',
  'invalid',
  (f: { missing: readonly { readonly what: string; readonly paths: readonly string[] }[] }) =>
    f.missing.map(({ what, paths }) => `The ${what} is missing: send ${names(paths, ' or ')}.`).join(' '),
  (f) => ({ errors: f.missing.map(({ paths }) => ({ path: paths[0]!, message: 'is required' })) }),
)

export const foreignOption = defineError(
  'INVALID_EMBEDDER_OPTION',
  'invalid',
  (f: { option: string; kind: string; known: readonly string[] }) =>
    `The embedder ${f.kind} has no option ${f.option}; it has ${f.known.join(', ')}.`,
  (f) => ({ errors: [{ path: `/embedder/${f.option}`, message: `is not an option of ${f.kind}` }] }),
)

export const noPretrainedModels = defineError(
  'PRETRAINED_MODEL_UNAVAILABLE',
  'invalid',
  () => 'Embeddings of an earlier run cannot be reused: hex2vec is trained in the job.',
  () => ({
    hint: 'Leave pretrainedModelRunId out.',
    errors: [{ path: '/pretrainedModelRunId', message: 'is not available' }],
  }),
)

export const importedTablesMissing = defineError(
  'IMPORTED_TABLES_MISSING',
  'invalid',
  (f: { prefix: string }) => `There are no tables of osmImportArea with the prefix ${f.prefix}.`,
  () => ({
    hint: 'Run osmImportArea with that tablePrefix first, or name another source.',
    errors: [{ path: '/source/prefix', message: 'is not the prefix of an import' }],
  }),
)

export const nothingCounted = defineError(
  'NO_MATCHING_FEATURES',
  'invalid',
  (f: { cells: number }) => `None of the ${f.cells} cells has a feature that matches the filter.`,
  () => ({ hint: 'Use another filter or area, or a source that covers the area.' }),
)

function names(paths: readonly string[], separator = ', '): string {
  return paths.map((path) => path.slice(1).replaceAll('/', '.')).join(separator)
}
