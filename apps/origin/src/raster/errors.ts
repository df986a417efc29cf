import { defineError } from '@terrane/core'

export const badParameter = defineError(
  'BAD_PARAMETER',
  'malformed',
  (f: { name: string; value: string; wanted: string }) => `${f.name}=${f.value} cannot be read: ${f.wanted}.`,
  (f) => ({ errors: [{ path: `/${f.name}`, message: f.wanted }] }),
)

export const notOffered = defineError(
  'PARAMETER_NOT_OFFERED',
  'not_implemented',
  (f: { name: string }) => `${f.name} is not offered here.`,
  () => ({
    hint: 'Bands, rescale, colormaps, nodata and resampling are. Compute expressions beforehand, e.g. with gdal_calc.',
  }),
)

export const sourceUnknown = defineError(
  'RASTER_NOT_FOUND',
  'not_found',
  (f: { url: string }) => `There is no raster ${f.url} that you may read.`,
  () => ({
    hint: 'url is storage://{bucket}/{path} of a stored GeoTIFF, embeddings://{table} for the source of an embeddings table, or embeddings://{table}/{number} for one of many.',
  }),
)

export const sourceGone = defineError(
  'SOURCE_NOT_FOUND',
  'not_found',
  (f: { table: string }) => `The source of ${f.table} cannot be read from here any more.`,
  () => ({
    hint: 'embedding_origins names the source to the service role. Put the file back, or upload it to a bucket and name it as url=storage://{bucket}/{path}.',
  }),
)

export const sceneNotDrawn = defineError(
  'SCENE_NOT_DRAWN',
  'not_implemented',
  (f: { table: string }) =>
    `The source of ${f.table} has its bands in files of their own, which are not drawn as one picture.`,
  () => ({
    hint: 'Draw a band: url=storage://{bucket}/{path} of its file. embedding_sources names the files in properties.',
  }),
)

export const sourceNumberNeeded = defineError(
  'SOURCE_NUMBER_NEEDED',
  'invalid',
  (f: { table: string; sources: readonly { number: number; day: string | null }[] }) =>
    `The table ${f.table} has many sources, such as ${f.sources
      .map(({ number, day }) => (day === null ? `${number}` : `${number} (${day})`))
      .join(', ')}.`,
  (f) => ({ hint: `Name one: url=embeddings://${f.table}/${f.sources[0]?.number ?? 0}.` }),
)

export const tileOutside = defineError('TILE_OUTSIDE', 'not_found', () => 'Nothing of the raster lies there.')
