import { openGeoTiff } from '../geotiff/open.ts'
import { isNeverData, storedNodata } from '../stored-nodata.ts'
import type { PixelRect } from '../plan.ts'
import type { RasterInfo, Samples } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import { createWindowReader } from '../window.ts'
import type { WindowReader } from '../window.ts'
import { clip } from './placement.ts'
import type { Placement } from './placement.ts'
import type { Resampling } from './scene.ts'

/** A file of a scene that is open for reading. */
export interface OpenedFile {
  readonly raster: RasterInfo
  readonly image: WindowReader
  readonly mask: WindowReader | null
}

/** @param cacheBytes memory for decoded blocks. @throws what `openGeoTiff` throws */
export function openSceneFile(source: ByteSource, cacheBytes: number): OpenedFile {
  const raster = openGeoTiff(source)
  const image = createWindowReader(source, raster, {
    name: 'image',
    empty: raster.nodata ?? 0,
    cacheBytes,
  })
  const { mask } = raster
  const cached = { name: 'mask', empty: 0, cacheBytes: Math.ceil(cacheBytes / 8) }
  return { raster, image, mask: mask && createWindowReader(source, mask, cached) }
}

/** A band of a file, with its placement on a tile. */
export interface PieceReading {
  readonly file: OpenedFile
  readonly band: number
  readonly placement: Placement
  readonly resampling: Resampling
  /** Stored value that means "no data"; null for none. */
  readonly nodata: number | null
  /** Value of the tile = stored value · ratio + shift. */
  readonly ratio: number
  readonly shift: number
  /** Whether the mask and alpha band of the file are used. */
  readonly ownMasks: boolean
}

/** A tile of a band: values, and a mask with 1 for pixels with a value. */
export interface TileValues {
  readonly rect: PixelRect
  readonly values: Float64Array
  readonly valid: Uint8Array
}

/** Maximum number of pixels of a file per read. */
const MAX_WINDOW = 1 << 22

/** Writes a piece's pixels of a tile over the existing ones. @throws CORRUPT_TILE */
export async function readPiece(piece: PieceReading, tile: TileValues): Promise<void> {
  const target = clip(tile.rect, piece.placement.to)
  if (target.width > 0 && target.height > 0) await readPart(piece, target, tile)
}

async function readPart(piece: PieceReading, target: PixelRect, tile: TileValues): Promise<void> {
  const { placement } = piece
  const rect = sourceRect(placement, target)
  if (rect.width === 0 || rect.height === 0) return
  const { x, y, width, height } = target
  if (rect.width * rect.height > MAX_WINDOW && height > 1) {
    // The pixels of the file may be far smaller than those of the grid.
    const half = height >> 1
    await readPart(piece, { x, y, width, height: half }, tile)
    await readPart(piece, { x, y: y + half, width, height: height - half }, tile)
    return
  }
  const window = await readSource(piece, rect)
  const sample = placement.isExact || piece.resampling === 'nearest' ? nearest : bilinear
  sample(window, piece, target, tile)
}

/** The pixels of a file that a part of the grid needs. */
function sourceRect({ map, from, isExact }: Placement, target: PixelRect): PixelRect {
  const [x0, xc, xr, y0, yc, yr] = map
  const columns = [target.x, target.x + target.width - 1]
  const rows = [target.y, target.y + target.height - 1]
  const xs = columns.flatMap((column) => rows.map((row) => x0 + column * xc + row * xr))
  const ys = columns.flatMap((column) => rows.map((row) => y0 + column * yc + row * yr))
  const around = isExact ? 0 : 1
  const [left, top] = [Math.floor(Math.min(...xs)) - around, Math.floor(Math.min(...ys)) - around]
  const [right, bottom] = [Math.floor(Math.max(...xs)) + around, Math.floor(Math.max(...ys)) + around]
  return clip({ x: left, y: top, width: right - left + 1, height: bottom - top + 1 }, from)
}

/** Pixels of a file, with 1 for valid ones. */
interface SourceWindow {
  readonly rect: PixelRect
  readonly samples: Samples
  readonly valid: Uint8Array
}

async function readSource(piece: PieceReading, rect: PixelRect): Promise<SourceWindow> {
  const { file, band, ownMasks } = piece
  const { raster } = file
  const samples = await file.image({ ...rect, band })
  const valid = new Uint8Array(samples.length).fill(1)
  const nodata = storedNodata(piece.nodata, raster)
  for (let i = 0; i < samples.length; i++) {
    const value = samples[i] as number
    if (value === nodata || isNeverData(value)) valid[i] = 0
  }
  if (!ownMasks) return { rect, samples, valid }
  const hide = (by: Samples): void => by.forEach((value, i) => value === 0 && (valid[i] = 0))
  if (file.mask !== null) hide(await file.mask({ ...rect, band: 0 }))
  if (raster.alphaBand !== null && raster.alphaBand !== band)
    hide(await file.image({ ...rect, band: raster.alphaBand }))
  return { rect, samples, valid }
}

type Sampler = (window: SourceWindow, piece: PieceReading, target: PixelRect, tile: TileValues) => void

/** Tolerance for rounding: a position on an edge between pixels belongs to the next pixel. */
const EDGE = 1e-9

const nearest: Sampler = ({ rect, samples, valid }, { placement, ratio, shift }, target, tile) => {
  const [x0, xc, xr, y0, yc, yr] = placement.map
  for (let row = target.y; row < target.y + target.height; row++) {
    let o = (row - tile.rect.y) * tile.rect.width + target.x - tile.rect.x
    for (let column = target.x; column < target.x + target.width; column++, o++) {
      const x = Math.floor(x0 + column * xc + row * xr + EDGE) - rect.x
      const y = Math.floor(y0 + column * yc + row * yr + EDGE) - rect.y
      if (x < 0 || y < 0 || x >= rect.width || y >= rect.height) continue
      const i = y * rect.width + x
      if (valid[i] === 0) continue
      tile.values[o] = (samples[i] as number) * ratio + shift
      tile.valid[o] = 1
    }
  }
}

/**
 * Bilinear interpolation of the four surrounding pixels without the invalid ones; no value when the nearest pixel is
 * invalid.
 */
const bilinear: Sampler = ({ rect, samples, valid }, { placement, ratio, shift }, target, tile) => {
  const [x0, xc, xr, y0, yc, yr] = placement.map
  const { width, height } = rect
  for (let row = target.y; row < target.y + target.height; row++) {
    let o = (row - tile.rect.y) * tile.rect.width + target.x - tile.rect.x
    for (let column = target.x; column < target.x + target.width; column++, o++) {
      const x = x0 + column * xc + row * xr - rect.x
      const y = y0 + column * yc + row * yr - rect.y
      const [nearX, nearY] = [Math.floor(x + EDGE), Math.floor(y + EDGE)]
      if (nearX < 0 || nearY < 0 || nearX >= width || nearY >= height) continue
      if (valid[nearY * width + nearX] === 0) continue
      const [left, top] = [Math.floor(x - 0.5), Math.floor(y - 0.5)]
      const [fx, fy] = [x - 0.5 - left, y - 0.5 - top]
      let sum = 0
      let weights = 0
      for (let corner = 0; corner < 4; corner++) {
        const [cx, cy] = [left + (corner & 1), top + (corner >> 1)]
        const i = cy * width + cx
        if (cx < 0 || cy < 0 || cx >= width || cy >= height || valid[i] === 0) continue
        const weight = ((corner & 1) === 0 ? 1 - fx : fx) * (corner >> 1 === 0 ? 1 - fy : fy)
        sum += weight * (samples[i] as number)
        weights += weight
      }
      tile.values[o] = (sum / weights) * ratio + shift
      tile.valid[o] = 1
    }
  }
}
