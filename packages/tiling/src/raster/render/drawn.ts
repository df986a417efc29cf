import { crc32 } from 'node:zlib'

/** Meaning of the colours of a picture. */
export interface Drawn {
  /** 1-based bands: red, green and blue, or the gray one. */
  readonly bidx: readonly number[]
  /** Stored values of each band that became 0 and 255; null when a colormap was used. */
  readonly rescale: readonly (readonly [number, number])[] | null
}

const KEYWORD = 'terrane-drawn'
const SIGNATURE_BYTES = 8
/** Bytes before the data of a chunk (length and type), and with the checksum after them. */
const HEAD_BYTES = 8
const FRAME_BYTES = 12

/** The PNG with a text chunk of its drawing options, for {@link readDrawn}. */
export function markDrawn(png: Uint8Array, drawn: Drawn): Uint8Array {
  const text = Buffer.from(`tEXt${KEYWORD}\0${JSON.stringify(drawn)}`, 'latin1')
  const chunk = Buffer.alloc(text.length + 8)
  chunk.writeUInt32BE(text.length - 4, 0)
  text.copy(chunk, 4)
  chunk.writeUInt32BE(crc32(text), 4 + text.length)
  // After the header, which is always the first chunk.
  const head = SIGNATURE_BYTES + FRAME_BYTES + 13
  return Buffer.concat([png.subarray(0, head), chunk, png.subarray(head)])
}

/** Legend in a PNG's metadata; null for a PNG that another program wrote. */
export function readDrawn(png: Uint8Array): Drawn | null {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength)
  for (let at = SIGNATURE_BYTES; at + FRAME_BYTES <= bytes.length;) {
    const length = bytes.readUInt32BE(at)
    const type = bytes.toString('latin1', at + 4, at + HEAD_BYTES)
    if (type === 'IDAT') return null
    const data = bytes.subarray(at + HEAD_BYTES, at + HEAD_BYTES + length)
    if (type === 'tEXt' && data.toString('latin1', 0, KEYWORD.length + 1) === `${KEYWORD}\0`) {
      return parse(data.toString('latin1', KEYWORD.length + 1))
    }
    at += FRAME_BYTES + length
  }
  return null
}

function parse(text: string): Drawn | null {
  try {
    const { bidx, rescale } = JSON.parse(text) as { bidx: unknown; rescale: unknown }
    const isDrawn =
      Array.isArray(bidx) &&
      bidx.length > 0 &&
      bidx.every(Number.isInteger) &&
      (rescale === null || (Array.isArray(rescale) && rescale.length === bidx.length && rescale.every(isRange)))
    return isDrawn ? { bidx, rescale } : null
  } catch {
    return null
  }
}

function isRange(range: unknown): boolean {
  return Array.isArray(range) && range.length === 2 && range.every(Number.isFinite) && range[0] !== range[1]
}
