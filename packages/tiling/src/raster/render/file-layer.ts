import type { PixelRect } from '../plan.ts'
import type { Affine, RasterCrs, RasterInfo } from '../raster-info.ts'
import { estimateScale } from '../scale.ts'
import type { ByteSource } from '../source.ts'
import { blocksOf } from '../window.ts'
import { readArea } from './area-mean.ts'
import { readBilinear } from './bilinear.ts'
import type { BlockStore, ByteSpan } from './blocks.ts'
import { boxesOf, visibleRect } from './extent.ts'
import { projectPixels } from './grid.ts'
import type { SourceGrid } from './grid.ts'
import { tileTooCoarse } from './errors.ts'
import { KERNELS, readKernel, wideningOf } from './kernel.ts'
import type { KernelName } from './kernel.ts'
import { addCost, rememberLimits } from './layer.ts'
import type { FileNeed, Layer, LayerChoice, RenderResampling } from './layer.ts'
import { chooseLevel, stepOf } from './level.ts'
import type { ChosenLevel } from './level.ts'
import { windowOf } from './load-window.ts'
import type { WindowRead } from './load-window.ts'
import { readNearest, visitsOf } from './nearest.ts'
import { bandsToRead, blockOfBand } from './pixels.ts'
import type { ReadPixels } from './pixels.ts'
import { toSource } from './placement.ts'
import { stepsOf } from './steps.ts'
import type { GridSteps } from './steps.ts'
import type { Georeference } from './placement.ts'
import { fittedSize, fullSize, wholeView } from './view.ts'
import type { View } from './view.ts'
import { zoomsOf } from './zooms.ts'

/**
 * Maximum pixels of a bilinear window; larger ones are sampled by nearest neighbour, which changes little at such a
 * reduction.
 */
const MAX_WINDOW = 1 << 23
/**
 * Maximum samples of a window for the other methods: enough for the largest picture of four bands at half the
 * resolution.
 */
const MAX_SAMPLES = 72 << 20
/** Maximum error of the approximate transform, in pixels of the image that is read. */
const TOLERANCE = 0.05

/** An opened raster file. */
export interface LayerFile {
  readonly source: ByteSource
  readonly raster: RasterInfo
  readonly store: BlockStore
  /** Called before reading, with the byte ranges that a view needs and the store lacks. */
  readonly onPlan: (spans: readonly ByteSpan[]) => void
}

/** Georeference of the pixels of a file; `clip` is the used part of it, null for all. */
export interface FilePlace {
  readonly affine: Affine
  readonly crs: RasterCrs
  readonly clip: PixelRect | null
}

/** A raster file as a layer. */
export function fileLayer(file: LayerFile, { affine, crs, clip }: FilePlace): Layer {
  const { source, raster } = file
  const place: Georeference = { width: raster.width, height: raster.height, affine, crs }
  const boxes = boxesOf(place)
  const plans = new WeakMap<View, ViewPlan | null>()
  const planOf = (view: View): ViewPlan | null => {
    const known = plans.get(view)
    if (known !== undefined) return known
    const visible = visibleRect(view, boxes)
    const plan = visible && planView(file, { ...place, clip }, view, visible)
    plans.set(view, plan)
    return plan
  }
  const step = (view: View): number => {
    const visible = visibleRect(view, boxes)
    return visible === null ? 1 : stepOf(toSource(view, place), visible)
  }
  return {
    raster: { ...raster, affine },
    crs,
    boxes,
    reference: null,
    ...zoomsOf(place, boxes),
    wholeView: (size, maxSize) =>
      wholeView({ ...raster, affine }, ...(size ? fullSize(raster, size) : fittedSize(raster, maxSize))),
    limits: rememberLimits(async (bands) => {
      const { min, max } = await estimateScale(source, raster, bands)
      return bands.map((_, i) => [min[i] as number, max[i] as number] as const)
    }),
    levelOf: (view) => chooseLevel(raster, step(view)).index,
    stepOf: step,
    needs(view, choice) {
      const plan = planOf(view)
      const { need } = plan === null ? { need: null } : readingOf(file, plan, choice)
      return need === null ? [] : [need]
    },
    async read(view, choice) {
      const plan = planOf(view)
      const pixels = plan && (await readPlan(file, plan, choice))
      return pixels && placed(pixels, view, plan.visible)
    },
  }
}

interface ViewPlan {
  readonly visible: PixelRect
  readonly grid: SourceGrid
  readonly steps: GridSteps
  readonly chosen: ChosenLevel
  /** Planned reads that have not run yet, by choice. */
  readonly readings: Map<string, Reading>
}

/** Plan for reading the pixels of a view. */
interface Reading {
  /** The window that is kept in memory for a mean or an interpolation; null for nearest. */
  readonly window: PixelRect | null
  /** Null when no pixel of the raster is visible. */
  readonly need: FileNeed | null
}

function planView(
  { raster }: LayerFile,
  { clip, ...place }: Georeference & Pick<FilePlace, 'clip'>,
  view: View,
  visible: PixelRect,
): ViewPlan {
  const project = toSource(view, place)
  const chosen = chooseLevel(raster, stepOf(project, visible))
  const tolerance = TOLERANCE * Math.min(chosen.factorX, chosen.factorY)
  const grid = projectPixels(project, visible, tolerance)
  // A view of one row or column has no neighbours to measure steps by.
  const [width, height] = [Math.max(2, visible.width), Math.max(2, visible.height)]
  const isThin = width > visible.width || height > visible.height
  const measured = isThin ? projectPixels(project, { ...visible, width, height }, tolerance) : grid
  const steps = stepsOf(measured, chosen)
  if (clip !== null) clipGrid(grid, clip)
  return { visible, chosen, grid, steps, readings: new Map() }
}

function clipGrid({ xy }: SourceGrid, { x, y, width, height }: PixelRect): void {
  for (let i = 0; i < xy.length; i += 2) {
    const [column, row] = [xy[i] as number, xy[i + 1] as number]
    if (column < x || row < y || column >= x + width || row >= y + height) xy[i] = Number.NaN
  }
}

/** @throws TILE_TOO_COARSE */
function readingOf(file: LayerFile, plan: ViewPlan, choice: LayerChoice): Reading {
  const key = keyOf(choice)
  const known = plan.readings.get(key)
  if (known) return known
  const { grid, chosen } = plan
  const reach = reachOf(file, plan, choice.resampling)
  const wanted = reach === null ? null : windowOf(grid, chosen, reach)
  const window = wanted !== null && fitsWindow(wanted, choice) ? wanted : null
  const reading = { window, need: needOf(file, plan, bandsToRead(file.raster, choice), window) }
  plan.readings.set(key, reading)
  return reading
}

/**
 * Number of pixels around a position that a method reads; null for the nearest one. The numbers of a palette have no
 * mean.
 */
function reachOf({ raster }: LayerFile, { steps }: ViewPlan, resampling: RenderResampling): number | null {
  if (resampling === 'nearest' || (raster.palette !== null && resampling !== 'mode')) return null
  const kernel = kernelOf(steps, resampling)
  if (kernel !== null) return Math.ceil(KERNELS[kernel].radius * Math.max(...wideningOf(steps)))
  return resampling === 'bilinear' ? 0.5 : steps.across + steps.down + 1
}

/** From this step on, bilinear is widened: its four pixels would leave out others. Overviews keep views below it. */
const COARSE_STEP = 1.95

/** The kernel of a method; null for the methods without one. */
function kernelOf({ across, down }: GridSteps, resampling: RenderResampling): KernelName | null {
  if (resampling === 'bilinear') return Math.max(across, down) < COARSE_STEP ? null : 'triangle'
  return resampling in KERNELS ? (resampling as KernelName) : null
}

/** @throws TILE_TOO_COARSE for a method whose result would be wrong without all pixels */
function fitsWindow({ width, height }: PixelRect, { bands, resampling }: LayerChoice): boolean {
  if (resampling === 'bilinear') return width * height <= MAX_WINDOW
  const samples = width * height * bands.length
  if (samples > MAX_SAMPLES) throw tileTooCoarse({ pixels: samples, limit: MAX_SAMPLES })
  return true
}

function readWindow(read: WindowRead, resampling: RenderResampling): Promise<ReadPixels> {
  if (resampling === 'average' || resampling === 'mode' || resampling === 'rms') return readArea(read, resampling)
  const kernel = kernelOf(read.steps, resampling)
  return kernel === null ? readBilinear(read) : readKernel(read, kernel)
}

function keyOf({ bands, nodata, resampling }: LayerChoice): string {
  return `${bands.join()} ${nodata} ${resampling}`
}

/** @throws TILE_TOO_COARSE, CORRUPT_TILE */
async function readPlan(file: LayerFile, plan: ViewPlan, wanted: LayerChoice): Promise<ReadPixels | null> {
  const { raster, store, onPlan } = file
  const { window, need } = readingOf(file, plan, wanted)
  plan.readings.delete(keyOf(wanted))
  if (need === null) return null
  onPlan(need.spans)
  const { grid, steps, chosen } = plan
  const { bands, keepsMissing } = wanted
  const choice = { bands, nodata: wanted.nodata ?? raster.nodata, keepsMissing }
  const pixels = window
    ? await readWindow({ raster, chosen, grid, steps, window, choice, store }, wanted.resampling)
    : await readNearest(raster, chosen, grid, choice, store)
  return pixels.alpha.some((value) => value > 0) ? pixels : null
}

/** The required reads; null when no pixel of the raster is visible. @throws TILE_TOO_COARSE */
function needOf(
  { source, raster, store }: LayerFile,
  { grid, chosen }: ViewPlan,
  bands: readonly number[],
  window: PixelRect | null,
): FileNeed | null {
  const { level, mask } = chosen
  const blocks = window
    ? blocksOf(level, window).map(({ index }) => index)
    : visitsOf(grid, level, chosen.factorX, chosen.factorY).blocks
  if (blocks.length === 0) return null
  const perBlock = level.blockWidth * level.blockHeight * (level.planar ? bands.length : level.samplesPerPixel)
  const pixels = blocks.length * perBlock
  addCost(pixels, [])
  const all = (level.planar ? bands : [0]).flatMap((band) => blocks.map((block) => blockOfBand(level, block, band)))
  if (mask === null) return { source, spans: store.spansOf(level, all), pixels }
  const masked = window
    ? blocksOf(mask, window).map(({ index }) => index)
    : visitsOf(grid, mask, raster.width / mask.width, raster.height / mask.height).blocks
  return { source, spans: [...store.spansOf(level, all), ...store.spansOf(mask, masked)], pixels }
}

/** Places the pixels of a part of a view in the whole view. */
function placed(pixels: ReadPixels, { width, height }: View, { x, y }: PixelRect): ReadPixels {
  if (pixels.width === width && pixels.height === height) return pixels
  const spread = <T extends Float32Array | Float64Array | Uint8Array>(from: T, to: T): T => {
    for (let row = 0; row < pixels.height; row++) {
      to.set(from.subarray(row * pixels.width, (row + 1) * pixels.width), (y + row) * width + x)
    }
    return to
  }
  const count = width * height
  return {
    width,
    height,
    planes: pixels.planes.map((plane) =>
      plane instanceof Float64Array ? spread(plane, new Float64Array(count)) : spread(plane, new Float32Array(count)),
    ),
    alpha: spread(pixels.alpha, new Uint8Array(count)),
  }
}
