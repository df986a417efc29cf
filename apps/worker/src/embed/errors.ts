import { defineError } from '@terrane/core'

export const tableUnknown = defineError(
  'EMBEDDING_TABLE_NOT_FOUND',
  'not_found',
  (f: { table: string }) => `There is no embeddings table ${f.table}`,
  () => ({
    hint: 'GET /rest/v1/embeddings_catalogue with Accept-Profile: geoembeddings lists the tables.',
    errors: [{ path: '/tableName', message: 'is not the name of an embeddings table' }],
  }),
)

export const tableOfRegions = defineError(
  'TABLE_OF_REGIONS',
  'invalid',
  (f: { table: string }) =>
    `The table ${f.table} has embeddings of map features, which pictures and texts cannot be compared with`,
  () => ({ errors: [{ path: '/tableName', message: 'must be a table of createGeoEmbeddings' }] }),
)

export const modelReplaced = defineError(
  'MODEL_REPLACED',
  'conflict',
  (f: { table: string; model: string }) =>
    `The files of the model ${f.model} have changed since the table ${f.table} was made`,
  () => ({ hint: 'Make the table again, or restore the model files that it was made with.' }),
)

export const chipEmpty = defineError(
  'NO_VALID_PIXELS',
  'invalid',
  () => 'No part of the picture has enough valid pixels',
  () => ({ hint: 'Check its nodata value, mask or transparency.' }),
)

export const chipTooLarge = defineError(
  'CHIP_TOO_LARGE',
  'too_large',
  (f: { tiles: number }) => `The picture makes more than ${f.tiles} tiles of the table's size`,
  () => ({ hint: 'Crop it, or make a table of it with createGeoEmbeddings.' }),
)

export const chipUnits = defineError(
  'CHIP_UNITS_UNKNOWN',
  'invalid',
  (f: { table: string; why: string }) => `The picture cannot be compared with the table ${f.table}: ${f.why}`,
  () => ({
    hint: 'Send a PNG as /raster/v1 draws it, with the values of its 0 and 255 as rescale=min,max, or a GeoTIFF cut from the raster.',
    errors: [{ path: '/querystring/rescale', message: 'is needed unless the picture has the units of the table' }],
  }),
)

export const chipRescale = defineError(
  'INVALID_SCALE',
  'invalid',
  (f: { text: string; why: string }) => `rescale ${f.text} ${f.why}`,
  () => ({
    errors: [{ path: '/querystring/rescale', message: 'must be min,max, or min,max for each colour of a PNG' }],
  }),
)

export const chipBands = defineError(
  'CHIP_BANDS_DIFFER',
  'invalid',
  (f: { table: string; wanted: readonly number[]; drawn: readonly number[] }) =>
    `The picture has band ${f.drawn.join(', ')}, but the table ${f.table} was made from band ${f.wanted.join(', ')}`,
  (f) => ({ hint: `Draw the picture with ${f.wanted.map((band) => `bidx=${band}`).join('&')}.` }),
)

export const queryTooSlow = defineError(
  'QUERY_TIMED_OUT',
  'timeout',
  (f: { seconds: number }) => `The query was not embedded within ${f.seconds} seconds`,
  () => ({ hint: 'Try again when the worker is less busy, or send a smaller picture.' }),
)

export const queriesBusy = defineError(
  'QUERIES_BUSY',
  'rate_limited',
  (f: { limit: number; of: string }) =>
    `${f.limit} queries are being embedded, which is the maximum of this worker${f.of}`,
  () => ({ hint: 'Try again in a few seconds.' }),
)
