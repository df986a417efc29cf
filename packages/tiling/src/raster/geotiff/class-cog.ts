import { setImmediate as nextTurn } from 'node:timers/promises'
import { promisify } from 'node:util'
import { deflate } from 'node:zlib'
import type { Affine } from '../raster-info.ts'
import { placeFields } from './place-fields.ts'
import type { CodedCrs } from './place-fields.ts'
import { TAG } from './tags.ts'
import {
  HEADER_BYTES,
  gdalMetadata,
  longField,
  shortField,
  tiffDirectories,
  tiffHeader,
  tiffText,
} from './write-tiff.ts'
import type { TiffField } from './write-tiff.ts'

/** Edge of a tile of the file, in pixels. */
const TILE = 512
/** Rows of an overview that are made without a pause. */
const ROWS_AT_ONCE = 256
const WITHOUT_CLASS = 0
/** Turn of the hue from one class to the next, in degrees: the golden angle keeps any number of them apart. */
const HUE_STEP = 137.508
const SATURATION = 0.65
/** Lightness of neighbouring classes in turn. */
const LIGHTNESS = [0.45, 0.65] as const

const compress = promisify(deflate)

/** Codes of classes on a grid. */
export interface ClassRaster extends ClassLevel {
  /** Names of the classes: the first has code 1. */
  readonly classes: readonly string[]
  readonly affine: Affine
  readonly crs: CodedCrs
  /** Metadata of the file by name. */
  readonly tags?: Readonly<Record<string, string>>
}

interface ClassLevel {
  readonly width: number
  readonly height: number
  /** A code per pixel, row by row; 0 where there is no class. */
  readonly codes: Uint8Array | Uint16Array
}

interface EncodedLevel extends Omit<ClassLevel, 'codes'> {
  /** Tiles with their leader and trailer. */
  readonly tiles: readonly Uint8Array[]
}

/** Bytes before a tile, which are its size, and behind it, which repeat its last ones: both are of GDAL's COG layout. */
const LEADER = 4
const TRAILER = 4

/** Codes of the type that as many classes need: bytes up to 255. All are 0. */
export function emptyCodes(pixels: number, classes: number): Uint8Array | Uint16Array {
  return classes > 255 ? new Uint16Array(pixels) : new Uint8Array(pixels)
}

/**
 * Writes classes as a cloud-optimized GeoTIFF: a BigTIFF in deflated tiles of 512 pixels with a colour table, nodata 0,
 * the names of the classes in GDAL's metadata of the band (`CLASS_1`, …), and overviews in which a pixel has the most
 * frequent class of its four (the first of them where two are as frequent).
 *
 * Source: the COG layout of GDAL's driver, directories first, smallest overview next.
 *
 * @returns the parts of the file, in order
 */
export async function encodeClassCog(raster: ClassRaster, signal?: AbortSignal): Promise<Uint8Array[]> {
  const levels: EncodedLevel[] = []
  let level: ClassLevel = raster
  for (;;) {
    levels.push(await encodeLevel(level, signal))
    if (level.width <= TILE && level.height <= TILE) break
    level = await halve(level, signal)
  }
  const layout = layoutText()
  const start = HEADER_BYTES + layout.length
  // The size of the directories does not depend on the positions in them.
  const draft = levels.map((one, i) => imageFields(raster, one, { isOverview: i > 0, first: 0 }))
  let end = start + tiffDirectories(draft, start).length
  const firsts = new Map<EncodedLevel, number>()
  for (const one of levels.toReversed()) {
    firsts.set(one, end)
    end += one.tiles.reduce((sum, tile) => sum + tile.length, 0)
  }
  const images = levels.map((one, i) => imageFields(raster, one, { isOverview: i > 0, first: firsts.get(one)! }))
  const tiles = levels.toReversed().flatMap((one) => one.tiles)
  return [tiffHeader(start), layout, tiffDirectories(images, start), ...tiles]
}

/** Text before the first directory by which GDAL knows the layout. It ends on an even position. */
function layoutText(): Uint8Array {
  const lines =
    'LAYOUT=IFDS_BEFORE_DATA\nBLOCK_ORDER=ROW_MAJOR\nBLOCK_LEADER=SIZE_AS_UINT4\n' +
    'BLOCK_TRAILER=LAST_4_BYTES_REPEATED\nKNOWN_INCOMPATIBLE_EDITION=NO\n '
  const text = `GDAL_STRUCTURAL_METADATA_SIZE=${String(lines.length).padStart(6, '0')} bytes\n${lines}`
  return new TextEncoder().encode(text.length % 2 === 0 ? text : `${text}\0`)
}

async function encodeLevel({ width, height, codes }: ClassLevel, signal?: AbortSignal): Promise<EncodedLevel> {
  const tiles: Uint8Array[] = []
  for (let top = 0; top < height; top += TILE) {
    for (let left = 0; left < width; left += TILE) {
      signal?.throwIfAborted()
      const tile = codes instanceof Uint8Array ? new Uint8Array(TILE * TILE) : new Uint16Array(TILE * TILE)
      const right = Math.min(width, left + TILE)
      const rows = Math.min(TILE, height - top)
      for (let row = 0; row < rows; row++) {
        const from = (top + row) * width
        tile.set(codes.subarray(from + left, from + right), row * TILE)
      }
      tiles.push(framed(await compress(tile)))
    }
  }
  return { width, height, tiles }
}

function framed(tile: Uint8Array): Uint8Array {
  const out = new Uint8Array(LEADER + tile.length + TRAILER)
  new DataView(out.buffer).setUint32(0, tile.length, true)
  out.set(tile, LEADER)
  out.set(tile.subarray(-TRAILER), LEADER + tile.length)
  return out
}

async function halve({ width, height, codes }: ClassLevel, signal?: AbortSignal): Promise<ClassLevel> {
  const across = Math.ceil(width / 2)
  const down = Math.ceil(height / 2)
  const half = codes instanceof Uint8Array ? new Uint8Array(across * down) : new Uint16Array(across * down)
  for (let row = 0; row < down; row++) {
    if (row % ROWS_AT_ONCE === 0) await nextTurn(undefined, signal && { signal })
    const upper = 2 * row * width
    const lower = 2 * row + 1 < height ? upper + width : upper
    for (let column = 0; column < across; column++) {
      const left = 2 * column
      const right = Math.min(left + 1, width - 1)
      half[row * across + column] = mostFrequent(
        codes[upper + left] as number,
        codes[upper + right] as number,
        codes[lower + left] as number,
        codes[lower + right] as number,
      )
    }
  }
  return { width: across, height: down, codes: half }
}

/** The most frequent class of four pixels; of equally frequent ones the first, 0 without any. */
function mostFrequent(a: number, b: number, c: number, d: number): number {
  if (a !== WITHOUT_CLASS && (a === b || a === c || a === d)) return a
  if (b !== WITHOUT_CLASS && (b === c || b === d)) return b
  if (c !== WITHOUT_CLASS && c === d) return c
  return a || b || c || d
}

function imageFields(
  { codes, classes, affine, crs, tags }: ClassRaster,
  { width, height, tiles }: EncodedLevel,
  { isOverview, first }: { readonly isOverview: boolean; readonly first: number },
): TiffField[] {
  const bits = 8 * codes.BYTES_PER_ELEMENT
  let at = first
  const offsets = tiles.map((tile) => (at += tile.length) - tile.length + LEADER)
  const image = [
    ...(isOverview ? [shortField(TAG.newSubfileType, [1])] : []),
    longField(TAG.imageWidth, [width]),
    longField(TAG.imageLength, [height]),
    shortField(TAG.bitsPerSample, [bits]),
    shortField(TAG.compression, [8]),
    shortField(TAG.photometric, [3]),
    shortField(TAG.samplesPerPixel, [1]),
    shortField(TAG.planarConfiguration, [1]),
    shortField(TAG.colorMap, colorMap(classes.length, bits)),
    shortField(TAG.tileWidth, [TILE]),
    shortField(TAG.tileLength, [TILE]),
    longField(TAG.tileOffsets, offsets),
    longField(
      TAG.tileByteCounts,
      tiles.map((tile) => tile.length - LEADER - TRAILER),
    ),
    shortField(TAG.sampleFormat, [1]),
    textField(TAG.gdalNodata, String(WITHOUT_CLASS)),
  ]
  if (isOverview) return image
  const items = Object.fromEntries(classes.map((name, i) => [`CLASS_${i + 1}`, name]))
  const metadata = gdalMetadata([{ name: 'class', scale: 1, offset: 0, items }], tags)
  return [...image, ...placeFields(affine, crs), textField(TAG.gdalMetadata, metadata)]
}

function textField(tag: number, text: string): TiffField {
  return { tag, type: 'text', values: tiffText(text) }
}

/** Red of all codes, then green, then blue, in 16 bits each. Codes without a class are black. */
function colorMap(classes: number, bits: number): Uint16Array {
  const map = new Uint16Array(3 * 2 ** bits)
  for (let i = 0; i < classes; i++) {
    for (const [channel, part] of colorOf(i).entries()) map[channel * 2 ** bits + i + 1] = Math.round(255 * part) * 257
  }
  return map
}

/** Red, green and blue of a class, from 0 to 1. */
function colorOf(index: number): [number, number, number] {
  const hue = (index * HUE_STEP) % 360
  const lightness = LIGHTNESS[index % 2] as number
  const spread = SATURATION * Math.min(lightness, 1 - lightness)
  const part = (offset: number): number => {
    const k = (offset + hue / 30) % 12
    return lightness - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1))
  }
  return [part(0), part(8), part(4)]
}
