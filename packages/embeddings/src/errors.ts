import { defineError } from '@terrane/core'

const BUILT_IN_HINT = 'The built-in model "builtin-texture-spectral-v2" needs no download: name it as modelName.'

export const modelUnknown = defineError(
  'MODEL_UNKNOWN',
  'invalid',
  (f: { id: string; known: readonly string[] }) => `There is no model "${f.id}"; known are ${f.known.join(', ')}.`,
  (f) => ({
    hint: 'Use a known model, or have the operator put a manifest of this name into the model directory.',
    errors: [{ path: '/modelName', message: `must be one of ${f.known.join(', ')}` }],
  }),
)

export const manifestInvalid = defineError(
  'MODEL_MANIFEST_INVALID',
  'invalid',
  (f: { source: string; problem: string }) => `The model manifest ${f.source} is not usable: ${f.problem}.`,
  () => ({ hint: 'Correct the file; packages/embeddings/README.md lists the fields.' }),
)

export const runtimeTooOld = defineError(
  'RUNTIME_TOO_OLD',
  'unavailable',
  (f: { version: string }) => `float16 models need Node 24; this is ${f.version}.`,
  () => ({ hint: 'Run them on Node 24 or newer, or take a float32 export of the model.' }),
)

/** Refuses a job before it begins, because a person must install the model. */
export const modelMissing = defineError(
  'MODEL_UNAVAILABLE',
  'invalid',
  (f: { id: string; why: string; available: readonly string[] }) =>
    `The model "${f.id}" is not available: ${f.why}. Available are ${f.available.join(', ')}.`,
  (f) => ({
    hint: `Name one of those as modelName, or have the operator install "${f.id}".`,
    errors: [{ path: '/modelName', message: `must be one of ${f.available.join(', ')}` }],
  }),
)

export const modelUnavailable = defineError(
  'MODEL_UNAVAILABLE',
  'unavailable',
  (f: { id: string; file: string; place: string; why: string }) =>
    `The model "${f.id}" is not available: ${f.file} is missing and ${f.why}.`,
  (f) => ({ hint: `Put the file at ${f.place} in the model directory. ${BUILT_IN_HINT}` }),
)

export const unpinnedAndMissing = defineError(
  'MODEL_UNAVAILABLE',
  'unavailable',
  (f: { id: string; file: string; place: string }) =>
    `The model "${f.id}" is not available: ${f.file} is missing, and its manifest has no checksum that a download could be verified with.`,
  (f) => ({
    hint:
      `Fill the checksums once with the command "models pin ${f.id}" to have it downloaded, or put the file at ${f.place} in the model directory. ` +
      BUILT_IN_HINT,
  }),
)

export const modelUnpinned = defineError(
  'MODEL_UNPINNED',
  'forbidden',
  (f: { id: string; file: string; place: string }) =>
    `The model "${f.id}" is not used: its manifest has no checksum for ${f.file}, so the file cannot be verified.`,
  (f) => ({
    hint:
      `Fill the checksums once with the command "models pin ${f.id}", or allow models without checksums. ` +
      `The file belongs at ${f.place} in the model directory. ${BUILT_IN_HINT}`,
  }),
)

export const modelTampered = defineError(
  'MODEL_TAMPERED',
  'conflict',
  (f: { id: string; place: string; what: 'size' | 'sha256'; found: string; expected: string }) =>
    `The model "${f.id}" is refused: ${f.place} has ${f.what} ${f.found}, its manifest says ${f.expected}.`,
  () => ({
    hint: 'Delete the file to have it downloaded again. To use the new file, pin the model again, or delete the draft of its manifest and check it again.',
  }),
)

export const modelMismatch = defineError(
  'MODEL_MISMATCH',
  'invalid',
  (f: { id: string; problem: string }) => `The graph of the model "${f.id}" does not fit its manifest: ${f.problem}.`,
  () => ({ hint: "Correct the manifest's input, extra_inputs, outputs (name, pooling), patches or dims." }),
)

/** Hint for a graph that the runtime cannot open, which no manifest can correct. */
export function unopenedHint(runtime: string | undefined): string {
  return (
    `The file must be a whole ONNX graph of operators that ONNX Runtime ${runtime ?? ''} has on the CPU: export it with an ` +
    'operator set that this version knows, in float32 or float16, and without custom operators.'
  )
}

export const modelFileUnfit = defineError(
  'MODEL_MISMATCH',
  'invalid',
  (f: { file: string; problem: string }) => `${f.file} cannot be used as an image model: ${f.problem}.`,
  () => ({
    hint:
      'Export a graph whose input is [batch, channels, height, width] or [batch, height, width, channels] of float32, ' +
      'float16, uint8 or int8, and that has a vector, tokens or a map of features for each image, of floating point ' +
      'numbers, among its outputs.',
  }),
)

/** Another model of the same id is in the model directory. */
export const modelThere = defineError(
  'MODEL_EXISTS',
  'conflict',
  (f: { id: string; place: string }) => `There is another model "${f.id}" at ${f.place}.`,
  (f) => ({
    hint: `Change "id" in the draft beside the model file. For a new version of the same model, change "revision", or delete ${f.place}.`,
  }),
)

export const modelInputMissing = defineError(
  'MODEL_INPUT_MISSING',
  'invalid',
  (f: { id: string; input: string; what: 'datetime' | 'gsd' | 'wavelengths' | 'places' }) =>
    `The model "${f.id}" needs ${f.what} for its input ${f.input}, which neither the request nor the raster gives.`,
  (f) => ({ hint: INPUT_HINTS[f.what] }),
)

const INPUT_HINTS = {
  datetime: 'Send datetime, the time at which the imagery was taken, such as 2024-06-01T10:00:00Z.',
  wavelengths: 'Send the profile of the sensor: it has the wavelength of each band.',
  gsd: 'The raster needs a georeference: the size of its pixels is taken from it.',
  places: 'The raster needs a georeference: the places of its tiles are taken from it.',
}

export const modelNotPinnable = defineError(
  'MODEL_NOT_PINNABLE',
  'upstream',
  (f: { id: string; file: string; why: string }) => `The model "${f.id}" cannot be pinned: ${f.file} ${f.why}.`,
  () => ({ hint: 'Check the URL in the manifest and the access token, or pin from files that are already in place.' }),
)

export const tileSizeUnsupported = defineError(
  'TILE_SIZE_UNSUPPORTED',
  'invalid',
  (f: { id: string; tileSize: number; min: number; multiple: number }) =>
    `The model "${f.id}" needs a tile size of at least ${f.min} pixels in steps of ${f.multiple}, not ${f.tileSize}.`,
  (f) => ({ errors: [{ path: '/tileSize', message: `must be a multiple of ${f.multiple}, at least ${f.min}` }] }),
)

export const levelUnsupported = defineError(
  'LEVEL_UNSUPPORTED',
  'invalid',
  (f: { id: string }) => `The model "${f.id}" has no patches: it gives one embedding per tile.`,
  () => ({ hint: 'Use level "tile".', errors: [{ path: '/level', message: 'must be "tile" for this model' }] }),
)

export const inferenceFailed = defineError(
  'INFERENCE_FAILED',
  'internal',
  (f: { id: string; why: string }) => `The model "${f.id}" failed: ${f.why}.`,
)

export const embeddingNotFinite = defineError(
  'EMBEDDING_NOT_FINITE',
  'internal',
  (f: { id: string; tile: number }) => `The model "${f.id}" gave a number that is not finite for tile ${f.tile}.`,
  () => ({
    hint:
      'Check unit, mean and std of the input in the manifest. float16 overflows at 65504: a float32 export of the ' +
      'model shows whether that is the cause.',
  }),
)

export const threadLost = defineError(
  'INFERENCE_THREAD_LOST',
  'internal',
  (f: { why: string }) => `An inference thread ended: ${f.why}.`,
  () => ({ hint: 'The job can be tried again; if memory ran out, lower the thread count or the memory budget.' }),
)

export const telemetryOn = defineError(
  'TELEMETRY_ON',
  'internal',
  (f: { variable: string }) =>
    `The model is not opened: the ONNX runtime would send telemetry, and a worker thread cannot set ${f.variable}.`,
  (f) => ({ hint: `Start the process with ${f.variable}=1, or open the engine in the main thread.` }),
)

export const artifactFailed = defineError(
  'ARTIFACT_FAILED',
  'internal',
  (f: { why: string }) => `The GeoParquet file could not be written: ${f.why}.`,
)

export const textUnsupported = defineError(
  'TEXT_UNSUPPORTED',
  'invalid',
  (f: { id: string }) => `The model "${f.id}" embeds no texts: its manifest has no text.`,
  () => ({
    hint: 'Search by a tile or a picture, or make the table with a model that has a text graph.',
    errors: [{ path: '/text', message: 'is not understood by the model of the table' }],
  }),
)

export const textTooLong = defineError(
  'TEXT_TOO_LONG',
  'invalid',
  (f: { tokens: number; limit: number }) => `The text has ${f.tokens} tokens; the limit of the model is ${f.limit}`,
  () => ({ hint: 'Send a shorter text.', errors: [{ path: '/text', message: 'is too long' }] }),
)

export const fittingFailed = defineError(
  'HEAD_NOT_FITTED',
  'unavailable',
  (f: { why: string }) => `The classifier could not be trained: ${f.why}`,
  () => ({ hint: 'Try again, with fewer examples if memory ran out.' }),
)
