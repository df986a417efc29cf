import { createCrsCatalogue } from '../crs/catalogue.ts'
import type { CrsCatalogue } from '../crs/catalogue.ts'
import { openGeoTiff } from '../geotiff/open.ts'
import { affineOf } from '../crs/affine-of.ts'
import { resolveCrs } from '../crs/resolve.ts'
import type { RasterInfo } from '../raster-info.ts'
import { estimateScale } from '../scale.ts'
import type { ByteSource } from '../source.ts'
import { blocksOf } from '../window.ts'
import { readBilinear, windowOf } from './bilinear.ts'
import { createBlockStore } from './blocks.ts'
import type { ByteSpan } from './blocks.ts'
import type { Colormap } from './colormap.ts'
import { tileTooCoarse, unknownBand, unshownBands } from './errors.ts'
import { boundsOf, boxesOf, visibleRect } from './extent.ts'
import type { LngLatBox } from './extent.ts'
import { projectPixels } from './grid.ts'
import type { SourceGrid } from './grid.ts'
import { chooseLevel, stepOf } from './level.ts'
import type { ChosenLevel } from './level.ts'
import { readNearest, visitsOf } from './nearest.ts'
import { paint } from './paint.ts'
import type { Picture } from './paint.ts'
import { bandsToRead, blockOfBand } from './pixels.ts'
import { toSource } from './placement.ts'
import type { Georeference } from './placement.ts'
import type { PixelRect } from '../plan.ts'
import { MERCATOR_EDGE, tileView } from './view.ts'
import type { View } from './view.ts'

/** What a caller wants of a picture; what is absent is decided by the raster. */
export interface RenderStyle {
  /** 1-based band numbers: one, or three as red, green and blue. */
  readonly bidx?: readonly number[]
  /** `[min, max]` for all bands, or one per band; {@link RasterRenderer.limits} by default. */
  readonly rescale?: readonly (readonly [number, number])[]
  /** Stands in for the nodata value of the file. */
  readonly nodata?: number
  readonly unscale?: boolean
  readonly colormap?: Colormap
  readonly resampling?: 'nearest' | 'bilinear'
}

/** What is known of a raster that can be rendered. */
export interface RasterSummary {
  /** West, south, east, north in degrees; west is the larger where the antimeridian is crossed. */
  readonly bounds: LngLatBox
  readonly minzoom: number
  readonly maxzoom: number
  /** Null when the CRS has no code. */
  readonly epsg: number | null
}

/** Draws views of one raster. It belongs to one thread. */
export interface RasterRenderer extends RasterSummary {
  readonly raster: RasterInfo
  /** Name of its CRS. */
  readonly crsName: string
  /** The bands that are shown when none are named, 1-based. */
  readonly defaultBands: readonly number[]
  /** The range of stored values of each band that becomes 0 to 255: all of a byte, otherwise the 2nd to the 98th percentile. */
  limits(bidx: readonly number[]): Promise<readonly (readonly [number, number])[]>
  /** Which image a view is read from: 0 for the full resolution, 1 for the first overview that can stand in for it, … */
  levelOf(view: View): number
  /**
   * The picture of a view, null where nothing of the raster is.
   *
   * @throws BAND_OUT_OF_RANGE, BANDS_NOT_SHOWN, TILE_TOO_COARSE, CORRUPT_TILE
   */
  render(view: View, style?: RenderStyle): Promise<Picture | null>
}

export interface RendererOptions {
  readonly crs?: CrsCatalogue
  /** Memory for decoded blocks; 64 MiB when absent. */
  readonly cacheBytes?: number
  /** Called with what a picture needs and the renderer does not hold, before it reads: a slow source fetches it at once. */
  readonly onPlan?: (spans: readonly ByteSpan[]) => void
}

/** Decoded pixels of all bands that one view may cost. */
const MAX_PIXELS = 1 << 28
/** A window with more pixels is read by its nearest pixels: so far reduced, their neighbours say no more. */
const MAX_WINDOW = 1 << 23
/** Largest stray of the transform from the exact one, in pixels of the image that is read. */
const TOLERANCE = 0.05
const CACHE_BYTES = 64 * 1024 * 1024

/**
 * Opens a raster for rendering: headers, georeference, CRS.
 *
 * @throws what `openGeoTiff` throws, NO_GEOREFERENCE, UNSUPPORTED_CRS
 */
export function openRenderer(source: ByteSource, options: RendererOptions = {}): RasterRenderer {
  const opened = openGeoTiff(source)
  const affine = affineOf(opened)
  const raster = { ...opened, affine }
  const crs = resolveCrs(raster, options.crs ?? createCrsCatalogue(), null)
  const place: Georeference = { width: raster.width, height: raster.height, affine, crs }
  const boxes = boxesOf(place)
  const bounds = boundsOf(boxes)
  const store = createBlockStore(source, raster.nodata ?? 0, options.cacheBytes ?? CACHE_BYTES)
  const limits = new Map<string, Promise<readonly (readonly [number, number])[]>>()
  const limitsOf = (bands: readonly number[]) => {
    const key = bands.join(',')
    const known = limits.get(key)
    if (known) return known
    const found = estimateScale(source, raster, bands).then(({ min, max }) =>
      bands.map((_, i) => [min[i] as number, max[i] as number] as const),
    )
    limits.set(key, found)
    return found
  }
  const zooms = zoomsOf(place, boxes)
  return {
    raster,
    bounds,
    epsg: crs.epsg,
    crsName: crs.name,
    ...zooms,
    defaultBands: defaultBands(raster).map((band) => band + 1),
    limits: async (bidx) => {
      const bands = bandsOf(raster, bidx)
      return storedRanges(raster, bands, await limitsOf(bands))
    },
    levelOf(view) {
      const visible = visibleRect(view, boxes)
      return visible === null ? 0 : chooseLevel(raster, stepOf(toSource(view, place), visible)).index
    },
    async render(view, style = {}) {
      const bands = style.bidx === undefined ? defaultBands(raster) : bandsOf(raster, style.bidx)
      checkShown(raster, bands, style.colormap !== undefined)
      const visible = visibleRect(view, boxes)
      if (visible === null) return null
      const plan = planView(raster, place, view, visible)
      const choice = { bands, nodata: style.nodata ?? raster.nodata }
      const window =
        style.resampling === 'bilinear' && raster.palette === null ? windowOf(plan.grid, plan.chosen) : null
      const smooth = window !== null && window.width * window.height <= MAX_WINDOW
      const spans = spansOf(raster, plan, bandsToRead(raster, choice), smooth ? window : null, store)
      if (spans === null) return null
      options.onPlan?.(spans)
      const pixels = smooth
        ? await readBilinear(raster, plan.chosen, plan.grid, window, choice, store)
        : await readNearest(raster, plan.chosen, plan.grid, choice, store)
      if (!pixels.alpha.some((value) => value > 0)) return null
      const unscale = style.unscale ?? style.rescale === undefined
      const rescale = spread(style.rescale ?? (await limitsOf(bands)), bands.length)
      const picture = paint(raster, pixels, { bands, rescale, unscale, colormap: style.colormap ?? null })
      const drawn = {
        bidx: bands.map((band) => band + 1),
        rescale: style.colormap === undefined ? (unscale ? storedRanges(raster, bands, rescale) : rescale) : null,
      }
      return { ...placed(picture, view, visible), ...(raster.palette === null && { drawn }) }
    },
  }
}

/** Ranges of physical values as those of stored ones. */
function storedRanges(
  raster: RasterInfo,
  bands: readonly number[],
  ranges: readonly (readonly [number, number])[],
): readonly (readonly [number, number])[] {
  return bands.map((band, i) => {
    const { scale, offset } = raster.bands[band] ?? { scale: 1, offset: 0 }
    const [min, max] = ranges[i] as readonly [number, number]
    return [(min - offset) / scale, (max - offset) / scale]
  })
}

interface ViewPlan {
  readonly grid: SourceGrid
  readonly chosen: ChosenLevel
}

function planView(raster: RasterInfo, place: Georeference, view: View, visible: PixelRect): ViewPlan {
  const project = toSource(view, place)
  const chosen = chooseLevel(raster, stepOf(project, visible))
  return { chosen, grid: projectPixels(project, visible, TOLERANCE * Math.min(chosen.factorX, chosen.factorY)) }
}

/** What has to be read; null when no pixel of the raster is in sight. @throws TILE_TOO_COARSE */
function spansOf(
  raster: RasterInfo,
  { grid, chosen }: ViewPlan,
  bands: readonly number[],
  window: PixelRect | null,
  store: ReturnType<typeof createBlockStore>,
): ByteSpan[] | null {
  const { level, mask } = chosen
  const blocks = window
    ? blocksOf(level, window).map(({ index }) => index)
    : visitsOf(grid, level, chosen.factorX, chosen.factorY).blocks
  if (blocks.length === 0) return null
  const perBlock = level.blockWidth * level.blockHeight * (level.planar ? bands.length : level.samplesPerPixel)
  const pixels = blocks.length * perBlock
  if (pixels > MAX_PIXELS) throw tileTooCoarse({ pixels, limit: MAX_PIXELS })
  const all = (level.planar ? bands : [0]).flatMap((band) => blocks.map((block) => blockOfBand(level, block, band)))
  if (mask === null) return store.spansOf(level, all)
  const masked = window
    ? blocksOf(mask, window).map(({ index }) => index)
    : visitsOf(grid, mask, raster.width / mask.width, raster.height / mask.height).blocks
  return [...store.spansOf(level, all), ...store.spansOf(mask, masked)]
}

/** The picture of a part, in its place in the view. */
function placed({ width, height, rgba }: Picture, view: View, { x, y }: PixelRect): Picture {
  if (width === view.width && height === view.height) return { width, height, rgba }
  const whole = new Uint8Array(4 * view.width * view.height)
  for (let row = 0; row < height; row++) {
    whole.set(rgba.subarray(4 * row * width, 4 * (row + 1) * width), 4 * ((y + row) * view.width + x))
  }
  return { width: view.width, height: view.height, rgba: whole }
}

function bandsOf(raster: RasterInfo, bidx: readonly number[]): number[] {
  const bands = raster.palette === null ? raster.bands.length : 1
  return bidx.map((band) => {
    if (!Number.isInteger(band) || band < 1 || band > bands) throw unknownBand({ band, bands })
    return band - 1
  })
}

function checkShown(raster: RasterInfo, bands: readonly number[], hasColormap: boolean): void {
  const count = bands.length
  const fits = raster.palette !== null || hasColormap ? count === 1 : count === 1 || count === 3
  if (!fits) throw unshownBands({ count, colormap: hasColormap })
}

/** Red, green and blue where they are declared, else the first three bands or the only one; alpha never. */
function defaultBands({ bands, palette }: RasterInfo): number[] {
  if (palette !== null) return [0]
  const rgb = (['red', 'green', 'blue'] as const).map((color) => bands.findIndex((band) => band.color === color))
  if (rgb.every((index) => index !== -1)) return rgb
  const opaque = bands.filter(({ color }) => color !== 'alpha').map(({ index }) => index)
  return opaque.length >= 3 ? opaque.slice(0, 3) : opaque.slice(0, 1)
}

function spread(ranges: readonly (readonly [number, number])[], count: number): readonly (readonly [number, number])[] {
  return Array.from({ length: count }, (_, i) => ranges[i] ?? (ranges[0] as readonly [number, number]))
}

/** The zoom at which the raster fits into a tile, and the one whose pixels are no larger than its own. */
function zoomsOf(place: Georeference, boxes: readonly LngLatBox[]): { minzoom: number; maxzoom: number } {
  const box = boxes[0] as LngLatBox
  const far = 20
  const n = 2 ** far
  const lat = Math.max(-85, Math.min(85, (box[1] + box[3]) / 2))
  const x = Math.min(n - 1, Math.max(0, Math.floor((((box[0] + box[2]) / 2 + 180) / 360) * n)))
  const y = Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n)
  // So close the transform is straight.
  const step = stepOf(toSource(tileView(far, x, y, 256), place), { x: 0, y: 0, width: 256, height: 256 })
  const pixel = (2 * MERCATOR_EDGE) / n / 256 / step
  return {
    minzoom: clamp(Math.floor(zoomOf((pixel * Math.max(place.width, place.height)) / 256))),
    maxzoom: clamp(Math.ceil(zoomOf(pixel) - 0.01)),
  }
}

function zoomOf(pixelMeters: number): number {
  return Math.log2((2 * MERCATOR_EDGE) / 256 / pixelMeters)
}

function clamp(zoom: number): number {
  return Math.max(0, Math.min(24, zoom))
}
