import type { Compression } from '../raster-info.ts'
import { createLzwDecoder } from './lzw.ts'
import { decodePackBits } from './packbits.ts'
import { inflate, unzstd } from './platform.ts'

/** Bytes beyond the expected size, so that a full block is one chunk and a longer stream is detected. */
const SLACK = 64

/**
 * Decompresses to at most `limit` bytes. The result is new memory that the caller may change.
 *
 * @throws Error when the stream is damaged or longer than `limit`
 */
export type ByteDecoder = (stored: Uint8Array, limit: number) => Uint8Array

/** The decoder of a byte compression, or null for a picture codec. One decoder serves one thread. */
export function byteDecoderOf(compression: Compression): ByteDecoder | null {
  switch (compression) {
    case 'none':
      return (stored) => stored
    case 'deflate':
      return (stored, limit) => inflate(stored, limit + SLACK)
    case 'zstd':
      return (stored, limit) => unzstd(stored, limit + SLACK)
    case 'lzw': {
      const decode = createLzwDecoder()
      return (stored, limit) => {
        if (stored[0] === 0 && ((stored[1] as number) & 1) === 1) throw new Error('its LZW is of the old bit order')
        return filled(limit, (target) => decode(stored, target))
      }
    }
    case 'packbits':
      return (stored, limit) => filled(limit, (target) => decodePackBits(stored, target))
    case 'jpeg':
    case 'webp':
    case 'lerc':
      return null
  }
}

function filled(limit: number, decode: (target: Uint8Array) => number): Uint8Array {
  const target = new Uint8Array(limit)
  const written = decode(target)
  if (written < 0) throw new Error('its codes are out of order')
  return target.subarray(0, written)
}
