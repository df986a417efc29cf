import { mosaicMixed, mosaicTooDense } from './errors.ts'
import { boundsOf, visibleRect } from './extent.ts'
import { mercatorView } from './area-view.ts'
import { SENSOR_PROFILES } from '../profile/sensor-profiles.ts'
import type { LngLatBox } from './extent.ts'
import { addCost } from './layer.ts'
import type { FetchTogether, Layer, LayerChoice } from './layer.ts'
import type { ReadPixels } from './pixels.ts'
import type { View } from './view.ts'

/** Method that combines the values of overlapping layers, pixel by pixel and band by band. */
export type PixelSelection = 'first' | 'highest' | 'lowest' | 'mean'

/** A part of a mosaic, opened when a view needs it. */
export interface MosaicPart {
  /** Null when unknown; then the boxes of the layer are used. */
  readonly boxes: readonly LngLatBox[] | null
  /** Id of the sensor profile of bands that state no scale and offset; null or none when unknown. */
  readonly profile?: string | null
  open(): Layer
}

/** Maximum number of parts of one view. */
export const MAX_PARTS = 16

/**
 * Overlapping layers, the first on top. With `first` each pixel comes from the first layer with a value there. All
 * layers use the limits of the first one, so that neighbouring tiles match.
 *
 * @param fetch reads the byte ranges of several files at once
 * @throws MOSAIC_MIXED when a view needs layers whose bands, types or units of stored numbers differ
 */
export function mosaicLayer(parts: readonly MosaicPart[], selection: PixelSelection, fetch: FetchTogether): Layer {
  const head = (parts[0] as MosaicPart).open()
  const placed = parts.map((part) => ({ ...part, boxes: part.boxes ?? part.open().boxes }))
  const boxes = placed.flatMap((part) => part.boxes)
  return {
    raster: head.raster,
    crs: head.crs,
    boxes,
    reference: head,
    minzoom: head.minzoom,
    maxzoom: head.maxzoom,
    wholeView: (size, maxSize) => mercatorView(head, boundsOf(boxes), size, maxSize),
    limits: (bands) => head.limits(bands),
    levelOf: (view) => head.levelOf(view),
    stepOf: (view) => head.stepOf(view),
    needs: () => [],
    read: (view, choice) => readParts(placed, { view, choice, selection, head, fetch }),
  }
}

interface PlacedPart extends MosaicPart {
  readonly boxes: readonly LngLatBox[]
}

interface MosaicRead {
  readonly view: View
  readonly choice: LayerChoice
  readonly selection: PixelSelection
  readonly head: Layer
  readonly fetch: FetchTogether
}

/** @throws MOSAIC_TOO_DENSE when pixels are still missing after the maximum number of layers, TILE_TOO_COARSE */
async function readParts(
  parts: readonly PlacedPart[],
  { view, choice, selection, head, fetch }: MosaicRead,
): Promise<ReadPixels | null> {
  const seen = parts.filter((part) => visibleRect(view, part.boxes) !== null)
  if (selection !== 'first' && seen.length > MAX_PARTS) throw mosaicTooDense({ layers: seen.length, limit: MAX_PARTS })
  if (selection !== 'first') fetch(seen.flatMap((part) => part.open().needs(view, choice)))
  let whole: Blend | null = null
  let cost = 0
  for (const [i, part] of seen.entries()) {
    if (i === MAX_PARTS) throw mosaicTooDense({ layers: seen.length, limit: MAX_PARTS })
    const layer = part.open()
    checkAlike(layer, head)
    checkUnits(part, parts[0]!, head)
    cost = addCost(cost, layer.needs(view, choice))
    const read = await layer.read(view, choice)
    if (read === null) continue
    whole ??= new Blend(read, selection)
    whole.add(read)
    if (selection === 'first' && whole.isFull) break
  }
  return whole && whole.pixels
}

function checkAlike({ raster }: Layer, { raster: first }: Layer): void {
  const isAlike =
    raster.bands.length === first.bands.length &&
    raster.bands.every(
      ({ scale, offset }, i) => scale === first.bands[i]?.scale && offset === first.bands[i]?.offset,
    ) &&
    !isReordered(namesOf(raster), namesOf(first)) &&
    raster.sampleType === first.sampleType &&
    (raster.color === 'gray-inverted') === (first.color === 'gray-inverted') &&
    String(raster.palette) === String(first.palette)
  if (!isAlike) throw mosaicMixed()
}

/** Refuses bands that state no scale, where the profiles of two parts read their numbers otherwise. */
function checkUnits({ profile }: MosaicPart, first: MosaicPart, { raster }: Layer): void {
  const [own, other] = [profile, first.profile].map((wanted) => SENSOR_PROFILES.find(({ id }) => id === wanted))
  if (own === undefined || other === undefined || raster.bands.every((band) => band.scale !== 1 || band.offset !== 0))
    return
  if (own.scale !== other.scale || own.offset !== other.offset) throw mosaicMixed()
}

function namesOf({ bands }: Layer['raster']): (string | null)[] {
  return bands.map(({ name }) => name?.toLowerCase() ?? null)
}

/**
 * Whether a band has the name of a different band of the other layer. Other differences are allowed, because some names
 * contain the date or the file.
 */
function isReordered(names: readonly (string | null)[], others: readonly (string | null)[]): boolean {
  return names.some((name, i) => name !== null && name !== others[i] && others.includes(name))
}

/** The combination of the layers read so far. */
class Blend {
  readonly pixels: ReadPixels
  readonly #selection: PixelSelection
  readonly #counts: Uint16Array
  #missing: number

  constructor({ width, height, planes }: ReadPixels, selection: PixelSelection) {
    const count = width * height
    this.pixels = { width, height, planes: planes.map(() => new Float64Array(count)), alpha: new Uint8Array(count) }
    this.#selection = selection
    this.#counts = new Uint16Array(count)
    this.#missing = count
  }

  get isFull(): boolean {
    return this.#missing === 0
  }

  add({ planes, alpha }: ReadPixels): void {
    const { pixels } = this
    const mix = MIXES[this.#selection]
    for (let i = 0; i < alpha.length; i++) {
      if (alpha[i] === 0) continue
      const before = this.#counts[i] as number
      if (before === 0) this.#missing--
      this.#counts[i] = before + 1
      for (let band = 0; band < planes.length; band++) {
        const plane = pixels.planes[band]!
        const value = planes[band]![i] as number
        plane[i] = before === 0 ? value : mix(plane[i] as number, value, before)
      }
      // With `first` the opacity of the first layer with a value stays.
      const isLater = this.#selection === 'first' && before > 0
      if (!isLater) pixels.alpha[i] = Math.max(pixels.alpha[i] as number, alpha[i] as number)
    }
  }
}

const MIXES: Readonly<Record<PixelSelection, (old: number, value: number, count: number) => number>> = {
  first: (old) => old,
  highest: (old, value) => Math.max(old, value),
  lowest: (old, value) => Math.min(old, value),
  mean: (old, value, count) => old + (value - old) / (count + 1),
}
