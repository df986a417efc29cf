import { encodeBlock } from './blocks.ts'
import type { GeoTiffOptions, ImageSource } from './spec.ts'

/** One image of the file, compressed. Blocks run row by row, in planar files plane after plane. */
export interface EncodedLevel {
  readonly width: number
  readonly height: number
  readonly bands: number
  readonly tiled: boolean
  readonly blockWidth: number
  readonly blockHeight: number
  readonly blocks: readonly Uint8Array[]
}

/** Compresses an image and its overviews, reading the image once from top to bottom. */
export async function encodePyramid(image: ImageSource, options: GeoTiffOptions): Promise<EncodedLevel[]> {
  const levels: EncodedLevel[] = []
  let source: ImageSource | null = image
  for (let level = 0; source !== null; level++) {
    const half: Half | null = level < (options.overviews ?? 0) ? halfOf(source, options) : null
    const sparse = level === 0 ? options : { ...options, isSparse: () => false }
    levels.push(await encodeLevel(source, sparse, half?.add ?? (() => {})))
    source = half?.image ?? null
  }
  return levels
}

/** The mask as a level of its own: one bit per pixel. */
export async function encodeMask(
  size: { width: number; height: number },
  options: GeoTiffOptions,
  scale: number,
): Promise<EncodedLevel> {
  const { mask = () => true, rowsPerStrip, tileSize = sideFor(size) } = options
  const image: ImageSource = {
    ...size,
    bands: 1,
    read: (x, y, width, height) =>
      Uint8Array.from({ length: width * height }, (_, i) =>
        mask((x + (i % width)) * scale, (y + Math.floor(i / width)) * scale) ? 1 : 0,
      ),
  }
  const layout = rowsPerStrip === undefined ? { tileSize } : { rowsPerStrip }
  return await encodeLevel(image, { ...layout, type: 'uint8', bitsPerSample: 1, compression: 'deflate' }, () => {})
}

/** Default side of tiles: no larger than the image, because each of many bands is padded to it. */
function sideFor({ width, height }: { readonly width: number; readonly height: number }): number {
  return Math.min(256, Math.ceil(Math.max(width, height) / 16) * 16)
}

type AddRows = (y: number, rows: number, values: ArrayLike<number>) => void

async function encodeLevel(image: ImageSource, options: GeoTiffOptions, add: AddRows): Promise<EncodedLevel> {
  const { width, height, bands } = image
  const { rowsPerStrip, tileSize = sideFor(image), planar = false, isSparse = () => false } = options
  const tiled = rowsPerStrip === undefined
  const blockWidth = tiled ? tileSize : width
  const blockHeight = tiled ? tileSize : Math.min(rowsPerStrip, height)
  const planes: Uint8Array[][] = Array.from({ length: planar ? bands : 1 }, () => [])
  for (let row = 0; row * blockHeight < height; row++) {
    const y = row * blockHeight
    const rows = Math.min(blockHeight, height - y)
    const values = image.read(0, y, width, rows)
    add(y, rows, values)
    for (let column = 0; column * blockWidth < width; column++) {
      for (const [plane, blocks] of planes.entries()) {
        const cut = { values, width, rows, bands, x: column * blockWidth, plane: planar ? plane : null }
        const block = cutBlock(cut, blockWidth, tiled ? blockHeight : rows)
        blocks.push(isSparse(column, row, plane) ? new Uint8Array(0) : await encodeBlock(block, options))
      }
    }
  }
  return { width, height, bands, tiled, blockWidth, blockHeight, blocks: planes.flat() }
}

interface Cut {
  readonly values: ArrayLike<number>
  readonly width: number
  readonly rows: number
  readonly bands: number
  readonly x: number
  readonly plane: number | null
}

/** A block out of a band of rows; past the image its last column and row are repeated. */
function cutBlock({ values, width, rows, bands, x, plane }: Cut, blockWidth: number, blockHeight: number) {
  const kept = plane === null ? bands : 1
  const block = new Float64Array(blockWidth * blockHeight * kept)
  for (let row = 0, i = 0; row < blockHeight; row++) {
    for (let column = 0; column < blockWidth; column++) {
      const pixel = Math.min(row, rows - 1) * width + Math.min(x + column, width - 1)
      for (let band = 0; band < kept; band++) block[i++] = values[pixel * bands + (plane ?? band)] as number
    }
  }
  return { width: blockWidth, height: blockHeight, bands: kept, values: block }
}

/** An image of half the size, built from rows of the larger one: means, or every other index of a palette. */
function halfOf(source: ImageSource, { type, color }: GeoTiffOptions): Half {
  const { bands } = source
  const width = Math.ceil(source.width / 2)
  const height = Math.ceil(source.height / 2)
  const whole = !type.startsWith('float')
  const pixels = whole ? new Int32Array(width * height * bands) : new Float64Array(width * height * bands)
  const add: AddRows = (y, rows, values) => {
    if (y % 2 !== 0) throw new RangeError('overviews need strips of an even number of rows')
    const at = (column: number, row: number, band: number): number =>
      values[(Math.min(row, rows - 1) * source.width + Math.min(column, source.width - 1)) * bands + band] as number
    for (let row = 0; row < rows; row += 2) {
      for (let column = 0; column < source.width; column += 2) {
        for (let band = 0; band < bands; band++) {
          const sum =
            at(column, row, band) +
            at(column + 1, row, band) +
            at(column, row + 1, band) +
            at(column + 1, row + 1, band)
          const mean = whole ? Math.round(sum / 4) : sum / 4
          pixels[(((y + row) / 2) * width + column / 2) * bands + band] =
            color === 'palette' ? at(column, row, band) : mean
        }
      }
    }
  }
  // A level is read in whole rows.
  const read: ImageSource['read'] = (_x, y, _width, rows) =>
    pixels.subarray(y * width * bands, (y + rows) * width * bands)
  return { image: { width, height, bands, read }, add }
}

interface Half {
  readonly image: ImageSource
  readonly add: AddRows
}
