/** Actions of a router, by Valhalla's names. */
export const ACTIONS = [
  'route',
  'sources_to_targets',
  'optimized_route',
  'isochrone',
  'trace_route',
  'trace_attributes',
  'locate',
  'tile',
  'status',
] as const

export type Action = (typeof ACTIONS)[number]

/**
 * An answer that is worked out in steps, each of some milliseconds at most: parts of its text, empty where a step made
 * none, or bytes, as the last step of an answer that is not text. Null says that it waits for something that comes between two steps. What is wrong is thrown before the first text.
 */
export type Work = Generator<string | Uint8Array | null, void, void>
