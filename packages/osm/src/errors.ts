import { defineError } from '@terrane/core'

/** The bytes end before the file does. */
export const osmTruncated = defineError(
  'OSM_TRUNCATED',
  'invalid',
  (f: { at: number; wanted: string }) => `The OSM file ends at byte ${f.at}, where ${f.wanted} should be`,
  () => ({ hint: 'Download the file again and compare its checksum.' }),
)

/** The bytes contradict the format. `at` is an offset in the file for PBF framing and XML, else null. */
export const osmMalformed = defineError(
  'OSM_MALFORMED',
  'invalid',
  (f: { what: string; at?: number }) =>
    `The OSM file is malformed${f.at === undefined ? '' : ` at byte ${f.at}`}: ${f.what}`,
  () => ({ hint: 'Download the file again, or rewrite it with osmium cat.' }),
)

/** The file is larger, in one of its parts, than the format or our cap allows. */
export const osmTooLarge = defineError(
  'OSM_TOO_LARGE',
  'too_large',
  (f: { what: string; size: number; limit: number }) => `${f.what} is ${f.size}, more than the limit of ${f.limit}`,
)

/** A valid file that needs something this reader does not do. */
export const osmUnsupported = defineError(
  'OSM_UNSUPPORTED',
  'unsupported_media',
  (f: { what: string }) => `The OSM file cannot be read: ${f.what}`,
  () => ({
    hint: 'Convert it to plain PBF with zlib blobs: by osmium cat, or osmium time-filter for a history file.',
  }),
)

/** A file that can be imported, but not kept for updates. */
export const osmNotUpdatable = defineError(
  'OSM_NOT_UPDATABLE',
  'unsupported_media',
  (f: { why: string }) => `The OSM file cannot be imported with updatable: ${f.why}`,
  () => ({ hint: 'Sort it with osmium sort, or import it without updatable.' }),
)

/** A topic that is not in the list. */
export const osmTopicUnknown = defineError(
  'OSM_TOPIC_UNKNOWN',
  'invalid',
  (f: { topic: string; known: readonly string[] }) => `There is no topic "${f.topic}"`,
  (f) => ({ hint: `Use some of ${f.known.join(', ')}.`, errors: [{ path: '/topics', message: 'an unknown topic' }] }),
)

/** A style of tables that cannot be used. `path` is a JSON pointer within the style. */
export const osmStyleInvalid = defineError(
  'OSM_STYLE_INVALID',
  'invalid',
  (f: { path: string; problem: string; remedy: string }) => `The style is wrong at ${f.path || '/'}: ${f.problem}`,
  (f) => ({ hint: f.remedy, errors: [{ path: `/topics${f.path}`, message: f.problem }] }),
)
