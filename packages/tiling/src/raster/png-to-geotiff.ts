import sharp from 'sharp'
import { pngUnreadable } from './errors.ts'

/** Size of a pixel in degrees: a picture has no place, so it gets one at the equator. */
const PIXEL_DEGREES = 1e-5
const SHORT = 3
const LONG = 4
const DOUBLE = 12
const TEXT = 2

/**
 * A PNG of 8 or 16 bits as an uncompressed GeoTIFF at a made-up place, for readers that take nothing else. Transparency becomes
 * a mask; palettes become colours.
 *
 * @param maxPixels most pixels of the picture
 * @param lines what the numbers of each colour stand for: value = number · scale + offset
 * @throws PNG_UNREADABLE
 */
export async function pngToGeoTiff(
  bytes: Uint8Array,
  maxPixels: number,
  lines: readonly ValueLine[] = [],
): Promise<Uint8Array> {
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error' })
    const { format, depth, space } = await image.metadata()
    if (format !== 'png') throw new Error(`it is ${format}`)
    // Lines are of bytes. Without a colour space of 16 bits the library makes bytes of wider samples.
    const wide = depth === 'ushort' && lines.length === 0
    if (wide && space !== undefined) image.toColourspace(space)
    const raw = await image.raw({ depth: wide ? 'ushort' : 'uchar' }).toBuffer({ resolveWithObject: true })
    const { width, height, channels } = raw.info
    return writeTiff({ width, height, channels, bits: wide ? 16 : 8, data: raw.data, lines })
  } catch (cause) {
    throw pngUnreadable({ why: cause instanceof Error ? cause.message : String(cause) }, { cause })
  }
}

/** The line from numbers to values. */
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
  const tags: [tag: number, type: typeof TEXT | typeof SHORT | typeof LONG | typeof DOUBLE, values: number[]][] = [
    [256, LONG, [width]],
    [257, LONG, [height]],
    [258, SHORT, Array.from({ length: channels }, () => bits)],
    [259, SHORT, [1]],
    [262, SHORT, [colours >= 3 ? 2 : 1]],
    [273, LONG, [0]],
    [277, SHORT, [channels]],
    [278, LONG, [height]],
    [279, LONG, [data.length]],
    [284, SHORT, [1]],
    // Alpha that colours were not multiplied by.
    ...(alpha ? [[338, SHORT, [2]] satisfies (typeof tags)[number]] : []),
    [33550, DOUBLE, [PIXEL_DEGREES, PIXEL_DEGREES, 0]],
    [33922, DOUBLE, [0, 0, 0, 0, 0, 0]],
    // Geographic, pixels are areas, WGS 84.
    [34735, SHORT, [1, 1, 0, 3, 1024, 0, 1, 2, 1025, 0, 1, 1, 2048, 0, 1, 4326]],
    ...(lines.length > 0 ? [[42112, TEXT, metadataOf(lines.slice(0, colours))] satisfies (typeof tags)[number]] : []),
  ]
  const sizes = { [TEXT]: 1, [SHORT]: 2, [LONG]: 4, [DOUBLE]: 8 }
  const lengthOf = (i: number): number => sizes[tags[i]![1]] * tags[i]![2].length
  const directory = 2 + tags.length * 12 + 4
  let end = 8 + directory
  const places = tags.map((_, i) => {
    if (lengthOf(i) <= 4) return null
    const place = end
    end += lengthOf(i) + (lengthOf(i) % 2)
    return place
  })
  tags.find(([tag]) => tag === 273)![2][0] = end
  const out = new Uint8Array(end + data.length)
  const view = new DataView(out.buffer)
  const write = (at: number, type: (typeof tags)[number][1], value: number): void => {
    if (type === TEXT) view.setUint8(at, value)
    else if (type === SHORT) view.setUint16(at, value, true)
    else if (type === LONG) view.setUint32(at, value, true)
    else view.setFloat64(at, value, true)
  }
  view.setUint32(0, 0x002a4949, true)
  view.setUint32(4, 8, true)
  view.setUint16(8, tags.length, true)
  for (const [i, [tag, type, values]] of tags.entries()) {
    const at = 10 + i * 12
    const place = places[i] ?? null
    view.setUint16(at, tag, true)
    view.setUint16(at + 2, type, true)
    view.setUint32(at + 4, values.length, true)
    if (place !== null) view.setUint32(at + 8, place, true)
    for (const [n, value] of values.entries()) write((place ?? at + 8) + n * sizes[type], type, value)
  }
  out.set(data, end)
  return out
}

/** GDAL's items of scale and offset, as bytes. */
function metadataOf(lines: readonly ValueLine[]): number[] {
  const items = lines.flatMap(({ scale, offset }, band) => [
    `<Item name="SCALE" sample="${band}" role="scale">${scale}</Item>`,
    `<Item name="OFFSET" sample="${band}" role="offset">${offset}</Item>`,
  ])
  return [...Buffer.from(`<GDALMetadata>${items.join('')}</GDALMetadata>\0`)]
}
