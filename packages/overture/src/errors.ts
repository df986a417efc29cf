import { defineError } from '@terrane/core'

export const catalogueUnreadable = defineError(
  'OVERTURE_CATALOGUE_UNREADABLE',
  'upstream',
  (f: { url: string; reason: string }) => `The catalogue of Overture releases at ${f.url} cannot be used: ${f.reason}`,
  () => ({
    hint: 'Try again later, or name another catalogue; an operator of the worker by its setting worker.overtureCatalogueUrl.',
  }),
)

export const releaseNotFound = defineError(
  'OVERTURE_RELEASE_NOT_FOUND',
  'invalid',
  (f: { release: string; known: readonly string[] }) => `There is no Overture release ${f.release}`,
  (f) => ({
    hint: `Releases: ${f.known.slice(0, 10).join(', ')}. Overture keeps each for about 60 days; leave release out for the latest.`,
    errors: [{ path: '/release', message: 'must be a release that is still published' }],
  }),
)

export const rangesUnsupported = defineError(
  'RANGES_UNSUPPORTED',
  'upstream',
  (f: { host: string; reason: string }) => `${f.host} does not serve byte ranges as needed: ${f.reason}`,
)

export const parquetInvalid = defineError(
  'PARQUET_INVALID',
  'invalid',
  (f: { file: string; reason: string }) => `${f.file} is not a GeoParquet file that can be read: ${f.reason}`,
)

export const downloadRefused = defineError(
  'DOWNLOAD_REFUSED',
  'invalid',
  (f: { url: string; status: number }) => `${f.url} answered with status ${f.status}`,
)

export const downloadFailed = defineError(
  'DOWNLOAD_FAILED',
  'upstream',
  (f: { url: string; reason: string }) => `${f.url} could not be fetched: ${f.reason}`,
)

export const downloadTooLarge = defineError(
  'DOWNLOAD_TOO_LARGE',
  'too_large',
  (f: { limit: number }) => `The answer has more than ${f.limit} bytes`,
)
