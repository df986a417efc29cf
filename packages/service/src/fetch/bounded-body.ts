import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { downloadGrows, downloadTooLarge } from '../errors.ts'

/** Maximum ratio of decoded to encoded bytes, as for compressed files. */
const MOST_RATIO = 100
/** Decoded size up to which any ratio is allowed. */
const SMALL_BYTES = 1 << 20

/** Yields the decoded body. @throws DOWNLOAD_TOO_LARGE at the first byte over the limit or the allowed growth */
export async function* boundedBody(
  raw: Readable,
  encoding: string | undefined,
  limit: number,
  cancel: () => void,
  fail: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  let total = 0
  let encoded = 0
  try {
    const decoder = decoderFor(encoding)
    if (decoder) {
      raw.on('error', (error) => decoder.destroy(error))
      raw.on('data', (chunk: Uint8Array) => (encoded += chunk.byteLength))
      raw.pipe(decoder)
    }
    for await (const chunk of decoder ?? raw) {
      const bytes = chunk as Uint8Array
      total += bytes.byteLength
      if (total > limit) throw downloadTooLarge({ limit, announced: null })
      if (decoder && total > Math.max(SMALL_BYTES, encoded * MOST_RATIO)) throw downloadGrows({ ratio: MOST_RATIO })
      yield bytes
    }
  } catch (error) {
    throw fail(error)
  } finally {
    cancel()
  }
}

function decoderFor(encoding: string | undefined): Transform | null {
  switch (encoding?.toLowerCase()) {
    case 'gzip':
    case 'x-gzip':
      return createGunzip()
    case 'deflate':
      return createInflate()
    case 'br':
      return createBrotliDecompress()
    case 'zstd':
      return createZstdDecompress()
    default:
      return null
  }
}
