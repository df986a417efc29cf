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
 * An answer as a sequence of steps of a few milliseconds. A step yields a part of the text (empty if there is none
 * yet); the last step of a binary answer yields bytes. Null means that the work waits for an event between two steps.
 * Errors are thrown before the first part of the text.
 */
export type Work = Generator<string | Uint8Array | null, void, void>
