import { constants, deflateSync, zstdCompressSync } from 'node:zlib'
import sharp from 'sharp'
import type { Sharp } from 'sharp'
import { encodeLerc } from './lerc.ts'
import { encodeLzw } from './lzw.ts'
import { encodePackBits } from './packbits.ts'
import { bitsOf, encodeSamples } from './samples.ts'
import type { GeoTiffOptions } from './spec.ts'

/** The pixels of one block: `bands` values per pixel. */
export interface BlockPixels {
  readonly width: number
  readonly height: number
  readonly bands: number
  readonly values: ArrayLike<number>
}

/** Compresses one block as the options say. */
export async function encodeBlock(block: BlockPixels, options: GeoTiffOptions): Promise<Uint8Array> {
  const { compression = 'none', type } = options
  switch (compression) {
    case 'jpeg':
      // Without optimised coding all blocks have equal tables, which they can share.
      return await picture(block)
        .jpeg({
          quality: options.quality ?? 90,
          chromaSubsampling: options.halveChroma === true ? '4:2:0' : '4:4:4',
          optimiseCoding: false,
        })
        .toBuffer()
    case 'webp': {
      const quality = options.quality ?? 90
      return await picture(block)
        .webp({ quality, lossless: quality === 100, exact: true })
        .toBuffer()
    }
    case 'lerc':
      return wrapLerc(encodeLerc(lercValues(block, options), block, type), options.lercWrapper ?? 'none')
    default:
      return compress(
        encodeSamples(
          block.values,
          { rows: block.height, rowSamples: block.width * block.bands, step: block.bands },
          {
            type,
            bits: options.bitsPerSample ?? bitsOf(type),
            predictor: options.predictor ?? 1,
            littleEndian: options.littleEndian ?? true,
          },
        ),
        compression,
      )
  }
}

function picture({ width, height, bands, values }: BlockPixels): Sharp {
  const image = sharp(Uint8Array.from(values), { raw: { width, height, channels: bands as 1 | 2 | 3 | 4 } })
  // libvips would write a single band as three equal ones.
  return bands === 1 ? image.toColourspace('b-w') : image
}

function compress(bytes: Uint8Array, compression: 'none' | 'lzw' | 'deflate' | 'zstd' | 'packbits'): Uint8Array {
  switch (compression) {
    case 'none':
      return bytes
    case 'lzw':
      return encodeLzw(bytes)
    case 'deflate':
      return deflateSync(bytes, { level: 6 })
    case 'zstd':
      return zstdCompressSync(bytes, { params: { [constants.ZSTD_c_compressionLevel]: 9 } })
    case 'packbits':
      return encodePackBits(bytes)
  }
}

/** In big-endian files libtiff compresses swapped samples, here of one type as an example. */
function lercValues({ values }: BlockPixels, { littleEndian = true, type }: GeoTiffOptions): ArrayLike<number> {
  if (littleEndian || bitsOf(type) === 8) return values
  if (type !== 'int16') throw new TypeError(`no big-endian LERC of ${type}`)
  const swapped = Int16Array.from(values)
  Buffer.from(swapped.buffer).swap16()
  return swapped
}

function wrapLerc(blob: Uint8Array, wrapper: 'none' | 'deflate' | 'zstd'): Uint8Array {
  return wrapper === 'none' ? blob : wrapper === 'deflate' ? deflateSync(blob) : zstdCompressSync(blob)
}

/** Splits JPEG streams into shared tables and the rest, as of JPEGTables. Source: TIFF Technical Note 2. */
export function shareJpegTables(streams: readonly Uint8Array[]): { tables: Uint8Array; streams: Uint8Array[] } {
  const split = streams.map(splitTables)
  const tables = split[0]?.tables ?? new Uint8Array(0)
  if (split.some((part) => Buffer.compare(part.tables, tables) !== 0)) throw new Error('the JPEG tables differ')
  const marked = Buffer.concat([Uint8Array.of(0xff, 0xd8), tables, Uint8Array.of(0xff, 0xd9)])
  return { tables: marked, streams: split.map((part) => part.rest) }
}

function splitTables(jpeg: Uint8Array): { tables: Uint8Array; rest: Uint8Array } {
  const tables: Uint8Array[] = []
  const rest: Uint8Array[] = [jpeg.subarray(0, 2)]
  let at = 2
  while (jpeg[at + 1] !== 0xda) {
    const marker = jpeg[at + 1]
    const end = at + 2 + (((jpeg[at + 2] as number) << 8) | (jpeg[at + 3] as number))
    const isTable = marker === 0xdb || marker === 0xc4
    ;(isTable ? tables : rest).push(jpeg.subarray(at, end))
    at = end
  }
  rest.push(jpeg.subarray(at))
  return { tables: Buffer.concat(tables), rest: Buffer.concat(rest) }
}
