import { defineError, type Bbox } from '@terrane/core'

export const tableNameTooLong = defineError(
  'TABLE_NAME_TOO_LONG',
  'invalid',
  (f: { name: string }) => `Table name ${f.name} has more than 63 bytes`,
  () => ({
    hint: 'Use a shorter prefix.',
    errors: [{ path: '/tablePrefix', message: 'is too long for its suffixes' }],
  }),
)

export const fileNotReachable = defineError(
  'FILE_NOT_REACHABLE',
  'invalid',
  (f: { field: string }) =>
    `${f.field.slice(1).replaceAll('/', '.')} is not a file under the data roots of this worker`,
  (f) => ({
    hint: 'Name a file under TERRANE_DATA_ROOTS, or send a URL.',
    errors: [{ path: f.field, message: 'must name a file under the data roots' }],
  }),
)

export const tooManyNodes = defineError(
  'OSM_TOO_LARGE',
  'too_large',
  (f: { nodes: number; limit: number }) =>
    `The extract has about ${f.nodes} nodes, more than the limit of ${f.limit} of this worker`,
  () => ({ hint: 'Take a smaller extract, or let the operator raise the setting worker.maxOsmNodes.' }),
)

export const defaultFileMissing = defineError(
  'OSM_SOURCE_MISSING',
  'unavailable',
  () => 'The extract that this worker imports from does not exist',
  () => ({ hint: 'Name a source in the request, or let the operator correct TERRANE_OSM_SOURCE.' }),
)

export const sourceOutsideArea = defineError(
  'SOURCE_OUTSIDE_AREA',
  'invalid',
  (f: { extent: Bbox; area: readonly Bbox[]; others: readonly string[] }) =>
    `The source has no data in the area: it covers ${boxText(f.extent)}, the area is ${f.area.map(boxText).join(' and ')}`,
  (f) => ({
    hint: `Name a source that covers the area: ${f.others.join(', ')}, or the file or URL of an extract.`,
    errors: [{ path: '/source', message: 'must cover the area' }],
  }),
)

/** West, south, east and north, rounded to four decimals. */
function boxText(box: Bbox): string {
  return `[${box.map((degrees) => Number(degrees.toFixed(4))).join(', ')}]`
}

export const overpassOff = defineError(
  'OVERPASS_OFF',
  'invalid',
  () => 'This worker has no Overpass server',
  () => ({
    hint: 'Leave source out, or let the operator set TERRANE_OVERPASS_URL.',
    errors: [{ path: '/source/kind', message: 'overpass is not available' }],
  }),
)

export const areaTooLargeForOverpass = defineError(
  'AOI_TOO_LARGE_FOR_OVERPASS',
  'invalid',
  (f: { km2: number; limit: number }) =>
    `The area has ${f.km2} km², more than the limit of ${f.limit} km² for Overpass`,
  () => ({
    hint: 'Use another source, or a smaller area.',
    errors: [{ path: '/aoiGeoJson', message: 'is too large for Overpass' }],
  }),
)

export const overpassFailed = defineError(
  'OVERPASS_FAILED',
  'upstream',
  (f: { remark: string }) => `Overpass answered with an error: ${f.remark.slice(0, 300)}`,
  () => ({ hint: 'Try a smaller area or fewer requests, or another source.' }),
)

export const noExtractCovers = defineError(
  'NO_EXTRACT_COVERS_AREA',
  'invalid',
  () => 'No extract of the index contains the whole area',
  () => ({
    hint: 'Send a smaller area, or name a file or URL as the source.',
    errors: [{ path: '/aoiGeoJson', message: 'is not in an extract' }],
  }),
)

export const extractIndexBroken = defineError(
  'EXTRACT_INDEX_BROKEN',
  'upstream',
  (f: { reason: string }) => `The index of extracts cannot be read: ${f.reason}`,
)

export const checksumDiffers = defineError(
  'CHECKSUM_DIFFERS',
  'upstream',
  (f: { name: string }) => `The download of ${f.name} does not have the checksum that its server states`,
  () => ({ hint: 'It may just have been replaced: try again.' }),
)
