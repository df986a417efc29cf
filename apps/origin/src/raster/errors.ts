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
  (f: { name: string }) => `${f.name} is not supported here.`,
  () => ({
    hint: 'docs/tasks/pictures.md lists what is.',
  }),
)

export const sourceUnknown = defineError(
  'RASTER_NOT_FOUND',
  'not_found',
  (f: { url: string }) => `There is no raster ${f.url} that you may read.`,
  () => ({
    hint: 'url is storage://{bucket}/{path} of a GeoTIFF, VRT or STAC item, https://… of one for the service role, embeddings://{table} for the sources of an embeddings table, or embeddings://{table}/{number} for one of many.',
  }),
)

export const sourceGone = defineError(
  'SOURCE_NOT_FOUND',
  'not_found',
  (f: { table: string }) => `The source of ${f.table} can no longer be read from this server.`,
  () => ({
    hint: 'embedding_origins names the source to the service role. Put the file back, or upload it to a bucket and name it as url=storage://{bucket}/{path}.',
  }),
)

export const sceneFilesMissing = defineError(
  'SCENE_FILE_NOT_FOUND',
  'not_found',
  () => 'A file of the scene does not exist, or this key may not read it.',
  () => ({
    hint: 'Put the file back, make its bucket public, or use the service role key. Tables of older versions do not record folders outside the storage: embed the scene again.',
  }),
)

export const tooManyFiles = defineError(
  'TOO_MANY_FILES',
  'too_large',
  (f: { files: number; limit: number }) => `The picture needs ${f.files} files; the limit is ${f.limit}.`,
  () => ({ hint: 'Name fewer with assets or sources, or make one GeoTIFF of them: gdal_translate -of COG.' }),
)

export const itemUnreadable = defineError(
  'ITEM_UNREADABLE',
  'invalid',
  (f: { why: string }) => `The STAC item cannot be read: ${f.why}.`,
  () => ({ hint: 'url names one item, a Feature with assets.' }),
)

export const sourceTooLong = defineError(
  'SOURCE_TOO_LONG',
  'too_large',
  (f: { bytes: number; limit: number }) => `The file has ${f.bytes} bytes; a VRT or an item may have ${f.limit}.`,
  () => ({ hint: 'Name a GeoTIFF, or a file of fewer sources.' }),
)

export const tooManySources = defineError(
  'TOO_MANY_SOURCES',
  'too_large',
  (f: { table: string; limit: number }) => `More than ${f.limit} sources of ${f.table} are chosen.`,
  () => ({ hint: 'Choose fewer with since, until or sources.' }),
)

export const noSourcesChosen = defineError(
  'NO_SOURCES_CHOSEN',
  'not_found',
  (f: { table: string }) => `The table ${f.table} has no source of that time or number.`,
  () => ({ hint: 'POST /rest/v1/rpc/list_sources with Content-Profile: geoembeddings lists them.' }),
)

export const badFeature = defineError(
  'BAD_FEATURE',
  'invalid',
  (f: { why: string }) => `The body cannot be read: ${f.why}.`,
  () => ({ hint: 'Send a GeoJSON Feature with a Polygon or MultiPolygon in longitude and latitude.' }),
)

export const tileOutside = defineError(
  'TILE_OUTSIDE',
  'not_found',
  () => 'The raster has no valid pixel at this place.',
  () => ({
    hint: 'info has the bounds of the raster. A pixel is not valid if it is nodata, or if its expression gives no finite number.',
  }),
)
