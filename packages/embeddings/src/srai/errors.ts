import { defineError } from '@terrane/core'

export const tooManyCells = defineError(
  'size_guard_exceeded',
  'too_large',
  (f: { cells: number; exact: boolean; resolution: number; limit: number; setting: string }) =>
    `The area has ${f.exact ? '' : 'about '}${f.cells} H3 cells of resolution ${f.resolution}; ${f.setting} allows ${f.limit}.`,
  (f) => ({
    hint: `Use a smaller area or a lower h3Resolution, or raise ${f.setting} (0 disables it).`,
    errors: [{ path: '/h3Resolution', message: 'makes too many cells for this area' }],
  }),
)

export const invalidResolution = defineError(
  'INVALID_H3_RESOLUTION',
  'invalid',
  (f: { resolution: number }) => `h3Resolution must be a whole number from 0 to 15, not ${f.resolution}.`,
  () => ({ errors: [{ path: '/h3Resolution', message: 'must be a whole number from 0 to 15' }] }),
)

export const emptyArea = defineError(
  'EMPTY_AREA',
  'invalid',
  () => 'The area covers no H3 cell.',
  () => ({ hint: 'Send a polygon with an area above zero, longitude before latitude.' }),
)

export const invalidArea = defineError(
  'INVALID_AREA',
  'invalid',
  (f: { why: string }) => `The area cannot be covered with H3 cells: ${f.why}.`,
  () => ({ hint: 'Send valid polygons: longitude before latitude, within ±180 and ±90 degrees, rings closed.' }),
)

export const invalidFilter = defineError(
  'INVALID_OSM_FILTER',
  'invalid',
  (f: { path: string; problem: string }) => `The tag filter is not usable: ${f.path || 'it'} ${f.problem}.`,
  (f) => ({
    hint: 'Example: {"amenity": ["school", "cafe"], "shop": true}.',
    errors: [{ path: f.path, message: f.problem }],
  }),
)

export const presetUnknown = defineError(
  'OSM_PRESET_UNKNOWN',
  'invalid',
  (f: { name: string; known: readonly string[] }) => `There is no preset "${f.name}"; known are ${f.known.join(', ')}.`,
  (f) => ({ errors: [{ path: '/osmPreset', message: `must be one of ${f.known.join(', ')}` }] }),
)

export const embedderUnknown = defineError(
  'EMBEDDER_UNKNOWN',
  'invalid',
  (f: { name: string; known: readonly string[] }) =>
    `The embedder "${f.name}" is not available; available are ${f.known.join(', ')}.`,
  (f) => ({ errors: [{ path: '/embedder', message: `must be one of ${f.known.join(', ')}` }] }),
)

export const invalidOption = defineError(
  'INVALID_EMBEDDER_OPTION',
  'invalid',
  (f: { option: string; problem: string }) => `The embedder option ${f.option} ${f.problem}.`,
  (f) => ({ errors: [{ path: `/embedder/${f.option}`, message: f.problem }] }),
)

export const noFeatures = defineError(
  'NO_MATCHING_FEATURES',
  'invalid',
  () => 'No feature in the area matches the filter, and the filter names no values to count.',
  () => ({ hint: 'Use a filter with values instead of true, or an area where such features exist.' }),
)

export const tooManyColumns = defineError(
  'TOO_MANY_DIMENSIONS',
  'too_large',
  (f: { dims: number; limit: number }) =>
    `The embeddings would have ${f.dims} dimensions; at most ${f.limit} can be stored.`,
  () => ({ hint: 'Count keys instead of values, name the values in the filter, or lower the neighbourhood distance.' }),
)

export const notEnoughRegions = defineError(
  'NOT_ENOUGH_REGIONS',
  'invalid',
  (f: { cells: number }) =>
    `hex2vec cannot be trained on ${f.cells} cells: it needs neighbours, and cells far from each other.`,
  () => ({ hint: 'Use a larger area or a higher h3Resolution, or the embedder "count".' }),
)

export const regionThreadLost = defineError(
  'REGION_THREAD_LOST',
  'internal',
  (f: { why: string }) => `The thread that embeds regions ended: ${f.why}.`,
)

export const regionFailed = defineError(
  'REGION_EMBEDDING_FAILED',
  'internal',
  (f: { why: string }) => `The regions could not be embedded: ${f.why}.`,
)
