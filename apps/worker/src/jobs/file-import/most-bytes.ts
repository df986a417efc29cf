/** Largest growth from file to rows, because a view in a file can produce endless rows. */
const MOST_GROWTH = 100
const MOST_OF_LIMIT = 16
const ALWAYS_ALLOWED_BYTES = 2 ** 28

/** Maximum bytes of the rows of a file. */
export function mostBytesOf(bytes: number, maxBytes: number): number {
  return Math.max(ALWAYS_ALLOWED_BYTES, Math.min(bytes * MOST_GROWTH, maxBytes * MOST_OF_LIMIT))
}
