import { pngUnreadable } from './errors.ts'
import { TAG } from './geotiff/tags.ts'
import {
  HEADER_BYTES,
  gdalMetadata,
  longField,
  shortField,
  tiffDirectories,
  tiffHeader,
  tiffText,
} from './geotiff/write-tiff.ts'
import type { TiffField } from './geotiff/write-tiff.ts'
import { loadSharp } from './sharp.ts'

/** Pixel size in degrees. A picture has no georeference, so it is placed at the equator. */
const PIXEL_DEGREES = 1e-5

/**
 * A PNG of 8 or 16 bits as an uncompressed GeoTIFF at an invented location, for readers that accept only GeoTIFF.
 * Transparency becomes a mask; palettes become colours.
 *
 * @param maxPixels maximum number of pixels
 * @param lines conversion of the numbers of each colour: value = number · scale + offset
 * @throws PNG_UNREADABLE
 */
export async function pngToGeoTiff(
  bytes: Uint8Array,
  maxPixels: number,
  lines: readonly ValueLine[] = [],
): Promise<Uint8Array> {
  const sharp = await loadSharp()
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' })
    const { format, depth, space } = await image.metadata()
    if (format !== 'png') throw new Error(`it is ${format}`)
    // Value lines apply to bytes. Without a 16-bit colour space the library converts wider samples to bytes.
    const wide = depth === 'ushort' && lines.length === 0
    if (wide && space !== undefined) image.toColourspace(space)
    const raw = await image.raw({ depth: wide ? 'ushort' : 'uchar' }).toBuffer({ resolveWithObject: true })
    const { width, height, channels } = raw.info
    return writeTiff({ width, height, channels, bits: wide ? 16 : 8, data: raw.data, lines })
  } catch (cause) {
    throw pngUnreadable({ why: cause instanceof Error ? cause.message : String(cause) }, { cause })
  }
}

/** Linear conversion from numbers to values. */
export interface ValueLine {
  readonly scale: number
  readonly offset: number
}

interface Picture {
  readonly width: number
  readonly height: number
  readonly channels: number
  readonly bits: 8 | 16
  /** Interleaved, 16 bits little-endian. */
  readonly data: Uint8Array
  readonly lines: readonly ValueLine[]
}

/** One strip, little-endian. */
function writeTiff({ width, height, channels, bits, data, lines }: Picture): Uint8Array {
  const alpha = channels === 2 || channels === 4
  const colours = alpha ? channels - 1 : channels
  const metadata = gdalMetadata(lines.slice(0, colours))
  const fields: TiffField[] = [
    longField(TAG.imageWidth, [width]),
    longField(TAG.imageLength, [height]),
    shortField(
      TAG.bitsPerSample,
      Array.from({ length: channels }, () => bits),
    ),
    shortField(TAG.compression, [1]),
    shortField(TAG.photometric, [colours >= 3 ? 2 : 1]),
    longField(TAG.stripOffsets, [HEADER_BYTES]),
    shortField(TAG.samplesPerPixel, [channels]),
    longField(TAG.rowsPerStrip, [height]),
    longField(TAG.stripByteCounts, [data.length]),
    shortField(TAG.planarConfiguration, [1]),
    // Unassociated alpha: colours are not multiplied by it.
    ...(alpha ? [shortField(TAG.extraSamples, [2])] : []),
    { tag: TAG.modelPixelScale, type: 'double', values: [PIXEL_DEGREES, PIXEL_DEGREES, 0] },
    { tag: TAG.modelTiepoint, type: 'double', values: [0, 0, 0, 0, 0, 0] },
    // Geographic, pixels are areas, WGS 84.
    shortField(TAG.geoKeyDirectory, [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]),
    ...(metadata === '' ? [] : [{ tag: TAG.gdalMetadata, type: 'text', values: tiffText(metadata) } as const]),
  ]
  const end = HEADER_BYTES + data.length
  const directory = tiffDirectories([fields], end)
  const out = new Uint8Array(end + directory.length)
  out.set(tiffHeader(end))
  out.set(data, HEADER_BYTES)
  out.set(directory, end)
  return out
}
