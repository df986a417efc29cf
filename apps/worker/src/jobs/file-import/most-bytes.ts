/** A view in a file can make rows without end. */
const MOST_GROWTH = 100
const MOST_OF_LIMIT = 16
const ALWAYS_ALLOWED_BYTES = 2 ** 28

/** Most bytes that the rows of files may take. */
export function mostBytesOf(bytes: number, maxBytes: number): number {
  return Math.max(ALWAYS_ALLOWED_BYTES, Math.min(bytes * MOST_GROWTH, maxBytes * MOST_OF_LIMIT))
}
