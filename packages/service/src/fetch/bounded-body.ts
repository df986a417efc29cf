import type { Readable, Transform } from 'node:stream'
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib'
import { downloadTooLarge } from '../errors.ts'

/** Yields the body, decoded, and fails at the first byte over the limit whatever the headers said. */
export async function* boundedBody(
  raw: Readable,
  encoding: string | undefined,
  limit: number,
  cancel: () => void,
  fail: (error: unknown) => unknown,
): AsyncGenerator<Uint8Array> {
  let total = 0
  try {
    const decoder = decoderFor(encoding)
    if (decoder) {
      raw.on('error', (error) => decoder.destroy(error))
      raw.pipe(decoder)
    }
    for await (const chunk of decoder ?? raw) {
      const bytes = chunk as Uint8Array
      total += bytes.byteLength
      if (total > limit) throw downloadTooLarge({ limit, announced: null })
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
