import { constants, inflateSync, zstdDecompressSync } from 'node:zlib'

// The parts of the decoders that depend on Node. A build for browsers uses platform.browser.ts instead.

/**
 * Decompresses deflate to at most `limit` bytes. A truncated stream returns its decodable part; the caller checks the
 * length.
 *
 * @throws Error when the stream is damaged or longer than `limit`
 */
export function inflate(stored: Uint8Array, limit: number): Uint8Array {
  return inflateSync(stored, { chunkSize: limit, maxOutputLength: limit, finishFlush: constants.Z_SYNC_FLUSH })
}

/** Decompresses Zstandard to at most `limit` bytes. @throws Error when the stream is damaged or longer than `limit` */
export function unzstd(stored: Uint8Array, limit: number): Uint8Array {
  return zstdDecompressSync(stored, { chunkSize: limit, maxOutputLength: limit })
}

/** Pixels of a picture, interleaved. */
export interface DecodedPicture {
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly pixels: Uint8Array
}

/** Decodes WEBP to RGB, or RGBA where four samples are wanted. @throws Error when it is damaged or has more than `maxPixels` */
export async function decodeWebpPicture(
  stored: Uint8Array,
  samples: number,
  maxPixels: number,
): Promise<DecodedPicture> {
  const { default: sharp } = await import('sharp')
  const image = sharp(stored, { limitInputPixels: maxPixels })
  const shaped = samples === 4 ? image.ensureAlpha() : image.removeAlpha()
  const { data, info } = await shaped.raw().toBuffer({ resolveWithObject: true })
  const pixels = new Uint8Array(data.buffer, data.byteOffset, data.length)
  return { width: info.width, height: info.height, channels: info.channels, pixels }
}

/** URL of the WebAssembly program for its loader; not needed in Node. */
export interface ProgramAddress {
  readonly locateFile?: () => string
}

export async function jpegProgram(): Promise<ProgramAddress> {
  return {}
}

export async function lercProgram(): Promise<ProgramAddress> {
  return {}
}

/** Reverses the bytes of each sample, in place. */
export function swapBytes({ buffer: memory, byteOffset }: ArrayBufferView, count: number, sampleBytes: number): void {
  const buffer = Buffer.from(memory, byteOffset, count * sampleBytes)
  if (sampleBytes === 2) buffer.swap16()
  else if (sampleBytes === 4) buffer.swap32()
  else if (sampleBytes === 8) buffer.swap64()
}
