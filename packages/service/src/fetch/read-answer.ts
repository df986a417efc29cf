import { refuseCostlyJson } from '../edge/bodies.ts'
import { downloadTooLarge } from '../errors.ts'

/** Reads an answer of at most `limit` bytes, whatever its announced length. @throws DOWNLOAD_TOO_LARGE */
export async function readBytes(
  body: AsyncIterable<Uint8Array> | null,
  limit: number,
  onChunk?: (bytes: number) => void,
): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  let total = 0
  for await (const chunk of body ?? []) {
    total += chunk.byteLength
    if (total > limit) throw downloadTooLarge({ limit, announced: null })
    chunks.push(chunk)
    onChunk?.(chunk.byteLength)
  }
  // Not a pooled Buffer: its `buffer` holds these bytes only, and `slice` copies.
  const bytes = new Uint8Array(total)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

/** Values of another server's answer, because parsed ones need many times the memory of their text. */
const MAX_VALUES = 1_000_000

/** Parses foreign JSON of bounded size and depth. @throws DOWNLOAD_TOO_LARGE, BODY_TOO_DEEP, BODY_TOO_WIDE */
export async function readJson(body: AsyncIterable<Uint8Array> | null, limit: number): Promise<unknown> {
  return parseForeignJson(new TextDecoder().decode(await readBytes(body, limit)))
}

/**
 * Like {@link readJson}, for a text that was read already.
 *
 * @param reviver as of `JSON.parse`; its context has the text of a number
 * @throws BODY_TOO_DEEP, BODY_TOO_WIDE, SyntaxError
 */
export function parseForeignJson(
  text: string,
  reviver?: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
): unknown {
  refuseCostlyJson(text, MAX_VALUES)
  // The context is of ES2026; the types do not declare it yet.
  return JSON.parse(text, reviver as (name: string, value: unknown) => unknown)
}
