import { invalidScale, noValidPixels, scaleCount } from './errors.ts'
import { coveredRect, planTiles, tileWindow } from './plan.ts'
import type { TilePlan } from './plan.ts'
import type { RasterInfo, RasterLevel } from './raster-info.ts'
import type { ByteSource } from './source.ts'
import { createPainter } from './tensor/painter.ts'

/**
 * The linear stretch of each channel: `min` becomes 0, `max` becomes 1, values outside are clamped. Values are physical
 * (stored · scale + offset of the band). The stretch is stored with the results; `origin` is its source.
 */
export interface Scale {
  readonly origin: 'fixed' | 'explicit' | 'percentile' | 'profile' | 'table' | 'model'
  readonly min: readonly number[]
  readonly max: readonly number[]
  /** When present, `min` and `max` are in decibels of the physical values. */
  readonly decibels?: true
  /** When present, values outside are not clamped, for models that accept physical or stored values. */
  readonly unclamped?: true
}

/** A range for all channels, or one for each. */
export type Ranges = readonly [number, number] | readonly (readonly [number, number])[]

/** Sampling uses the level whose longer side is closest to this many pixels … */
const SAMPLED_SIDE = 1024
/** … and at most this many tiles (or `SAMPLED_ROWS` rows of tiles for strips), with about `SAMPLED_PIXELS` pixels. */
const SAMPLED_TILES = 64
/** Large blocks are decoded up to this many pixels, but at least 16 blocks. */
const DECODED_PIXELS = 1 << 24
const SAMPLED_ROWS = 16
const SAMPLED_PIXELS = 1 << 20
const LOW = 0.02
const HIGH = 0.98

/**
 * The ranges of all channels.
 *
 * @throws INVALID_SCALE for a range that is empty or not finite, SCALE_COUNT
 */
export function checkScale(ranges: Ranges, channels: number): (readonly [number, number])[] {
  const list = isOne(ranges) ? Array.from({ length: channels }, () => ranges) : [...ranges]
  if (list.length !== channels) throw scaleCount({ scales: list.length, channels })
  for (const [min, max] of list) checkRange(min, max)
  return list
}

function isOne(ranges: Ranges): ranges is readonly [number, number] {
  return typeof ranges[0] === 'number'
}

function checkRange(min: number, max: number): void {
  if (!(min < max && Number.isFinite(max - min) && Number.isFinite(1 / (max - min)))) throw invalidScale({ min, max })
}

/**
 * The stretch of a whole raster: `[min, max]` as requested; the full range for bytes; otherwise the 2nd and 98th
 * percentile of each band, sampled from the level nearest 1024 pixels. Deterministic: blocks of a level that is too
 * large are picked by a fixed low-discrepancy sequence.
 *
 * @param bands one band index per channel
 * @throws INVALID_SCALE, NO_VALID_PIXELS, CORRUPT_TILE
 */
export async function estimateScale(
  source: ByteSource,
  raster: RasterInfo,
  bands: readonly number[],
  requested: Ranges | null = null,
): Promise<Scale> {
  if (requested !== null) {
    const ranges = checkScale(requested, bands.length)
    return { origin: 'explicit', min: ranges.map(([min]) => min), max: ranges.map(([, max]) => max) }
  }
  const physical = bands.some((band) => raster.bands[band]?.scale !== 1 || raster.bands[band]?.offset !== 0)
  if (raster.palette !== null || (raster.sampleType === 'uint8' && !physical)) {
    const top = raster.palette === null ? 2 ** raster.bitsPerSample - 1 : 255
    return { origin: 'fixed', min: bands.map(() => 0), max: bands.map(() => top) }
  }
  const ranges = new Map<number, [number, number]>()
  const sample = await sampleBands(source, raster, [...new Set(bands)])
  for (const [band, values] of sample) ranges.set(band, percentileRange(band, values))
  const rangeOf = (band: number): [number, number] => ranges.get(band) as [number, number]
  return { origin: 'percentile', min: bands.map((b) => rangeOf(b)[0]), max: bands.map((b) => rangeOf(b)[1]) }
}

function percentileRange(band: number, values: Float64Array): [number, number] {
  if (values.length === 0) throw noValidPixels({ band })
  values.sort()
  const min = quantile(values, LOW)
  const max = quantile(values, HIGH)
  // A constant raster still needs a range; its pixels become 0.
  return [min, max > min ? max : min + 1]
}

/** Linear between the two nearest ranks, as NumPy does by default. */
function quantile(sorted: Float64Array, fraction: number): number {
  const rank = fraction * (sorted.length - 1)
  const below = Math.floor(rank)
  const low = sorted[below] as number
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number
  return low + (high - low) * (rank - below)
}

/** Valid values of each band, physical, of a sample of the raster. */
export async function sampleBands(
  source: ByteSource,
  raster: RasterInfo,
  bands: readonly number[],
): Promise<Map<number, Float64Array>> {
  const level = sampledLevel(raster)
  const tileSize = level.tiled ? 256 : Math.max(16, Math.min(256, level.blockHeight))
  const plan = planTiles({ width: level.width, height: level.height, tileSize })
  const lines = bands.map((band) => ({
    ...UNSCALED,
    factor: level.bands[band]?.scale ?? 1,
    shift: level.bands[band]?.offset ?? 0,
  }))
  const painter = createPainter({ source, raster: level, plan, bands, lines })
  const picked = level.tiled ? scatteredTiles(plan, level) : wholeRows(plan)
  const step = Math.ceil((picked.length * tileSize ** 2) / SAMPLED_PIXELS)
  const size = tileSize * tileSize
  const planes = new Float32Array(bands.length * size)
  const values = bands.map(() => [] as number[])
  for (const index of picked) {
    const window = tileWindow(plan, index)
    const count = await painter.paint(window, coveredRect(plan, window), planes)
    const isValid = (i: number): boolean => count === size || painter.valid[i] === 1
    for (const [channel, list] of values.entries()) {
      const plane = channel * size
      for (let i = index % step; i < size; i += step) {
        const value = planes[plane + i] as number
        // A double may exceed the single precision of the planes.
        if (isValid(i) && Number.isFinite(value)) list.push(value)
      }
    }
  }
  return new Map(bands.map((band, channel) => [band, Float64Array.from(values[channel] as number[])]))
}

const UNSCALED = { low: -Infinity, high: Infinity, clamps: false }

/** The level whose longer side is nearest to the wanted one by ratio, as a raster of its own. */
function sampledLevel(raster: RasterInfo): RasterInfo {
  const alike = raster.overviews.filter(
    (o) => o.samplesPerPixel === raster.samplesPerPixel && o.sampleType === raster.sampleType,
  )
  const nearest = alike.toSorted((a, b) => distance(a) - distance(b))[0]
  return nearest === undefined || distance(raster) <= distance(nearest) ? raster : { ...raster, ...nearest }
}

/** Distance of a level from the wanted size, by ratio. */
function distance({ width, height }: RasterLevel): number {
  return Math.abs(Math.log(Math.max(width, height) / SAMPLED_SIDE))
}

/** All tiles of a small plan, otherwise tiles that the R2 sequence spreads evenly. Source: M. Roberts, 2018. */
function scatteredTiles({ columns, rows, count }: TilePlan, level: RasterLevel): number[] {
  const affordable = Math.floor(DECODED_PIXELS / (level.blockWidth * level.blockHeight))
  const wanted = Math.max(16, Math.min(SAMPLED_TILES, affordable))
  if (count <= wanted) return Array.from({ length: count }, (_, index) => index)
  const picked = new Set<number>()
  for (let i = 1; i <= wanted; i++) {
    const column = Math.floor(((i * 0.7548776662466927) % 1) * columns)
    const row = Math.floor(((i * 0.5698402909980532) % 1) * rows)
    picked.add(row * columns + column)
  }
  return [...picked].toSorted((a, b) => a - b)
}

/** Rows of tiles at even distances: a strip is decoded for its whole width anyway. */
function wholeRows({ columns, rows }: TilePlan): number[] {
  const picked = Math.min(rows, SAMPLED_ROWS)
  return Array.from({ length: picked * columns }, (_, i) => {
    const row = Math.floor(((Math.floor(i / columns) + 0.5) * rows) / picked)
    return row * columns + (i % columns)
  })
}
