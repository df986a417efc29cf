import { isPlainLngLat } from '../../crs/catalogue.ts'
import type { RasterInfo, SampleType } from '../../raster-info.ts'
import { storedNodata } from '../../stored-nodata.ts'
import { bandsOf } from '../bands.ts'
import { algorithmUnreadable, expressionUnreadable, valuesTooMany } from '../errors.ts'
import { addCost } from '../layer.ts'
import type { Layer, LayerChoice } from '../layer.ts'
import { dropMissing } from '../nearest.ts'
import type { ReadPixels } from '../pixels.ts'
import type { RenderStyle } from '../style.ts'
import { MERCATOR_EDGE } from '../view.ts'
import type { View } from '../view.ts'
import { findAlgorithm } from './algorithms.ts'
import type { Algorithm, GroundPixel } from './algorithms.ts'
import { parseExpression } from './expression.ts'

/** Values of a view with their names and type. */
export interface ViewValues {
  readonly pixels: ReadPixels
  /** Name of each plane: `b1` for the first band, or for the first part of an expression. */
  readonly names: readonly string[]
  /** Names of the bands in the raster (by default the plane's name), or the parts of an expression. */
  readonly descriptions: readonly string[]
  readonly type: SampleType
  /** Whether values are bytes of a picture, shown without rescaling. */
  readonly isPicture: boolean
}

/** Maximum number of values of all planes of one request. */
const MAX_VALUES = 1 << 24

/**
 * The values of a view: stored bands (physical with `unscale`), then the results of an expression, then those of an
 * algorithm. A pixel with a result that is not finite has no value. Null outside of the layer.
 *
 * @param fallback bands that are read when none are named, 0-based
 * @throws BAND_OUT_OF_RANGE, EXPRESSION_UNREADABLE, ALGORITHM_UNREADABLE, PICTURE_TOO_LARGE
 */
export async function readValues(
  layer: Layer,
  view: View,
  style: RenderStyle,
  fallback: readonly number[],
): Promise<ViewValues | null> {
  const found = style.algorithm && findAlgorithm(style.algorithm.name, style.algorithm.parameters)
  const margin = found?.algorithm.margin ?? 0
  const values = await readBands(layer, widen(view, margin), style, fallback)
  if (values === null) return null
  const named = found ? runAlgorithm(values, found, groundOf(layer, view)) : values
  const pixels = finite(crop(named.pixels, margin))
  return pixels.alpha.some((value) => value > 0) ? { ...named, pixels } : null
}

/**
 * The values of a view of a file band by band, each with the pixels that are valid in it alone: a pixel of a picture is
 * missing where all bands are nodata, or one is not finite. Expressions, algorithms, scenes and mosaics are read as one.
 * Null for a band without a valid pixel.
 *
 * @throws what {@link readValues} throws
 */
export async function readEachBand(
  layer: Layer,
  view: View,
  style: RenderStyle,
  fallback: readonly number[],
): Promise<{ readonly style: RenderStyle; readonly values: ViewValues | null }[]> {
  const isDerived = style.expression !== undefined || style.algorithm !== undefined
  const bands = style.bidx ? bandsOf(layer.raster, style.bidx) : fallback
  const isOne = isDerived || layer.reference !== null || bands.length === 1 || !mayMissBands(layer, style)
  const choice = choiceOf(bands, style)
  const needs = isOne ? [] : layer.needs(view, choice)
  // Bands of a scene are in files of their own, which are fetched together.
  if (isOne || needs.length > 1) return [{ style, values: await readValues(layer, view, style, fallback) }]
  checkCount(view.width * view.height * bands.length)
  const isNearest = choice.resampling === 'nearest'
  const read = isNearest ? await layer.read(view, { ...choice, keepsMissing: true }) : null
  // Each read of another method decodes all bands of a file that has them pixel by pixel.
  const reads = isNearest || layer.raster.planar ? 1 : bands.length
  addCost(0, needs.map((need) => ({ ...need, pixels: need.pixels * reads }))) // prettier-ignore
  const found = []
  for (const [i, band] of bands.entries()) {
    const own = { ...style, bidx: [band + 1] }
    const from = isNearest ? { ...layer, read: () => Promise.resolve(bandOf(layer, read, i, style)) } : layer
    found.push({ style: own, values: await readValues(from, view, own, fallback) })
  }
  return found
}

/** A band of pixels that were read with missing ones among them. */
function bandOf({ raster }: Layer, read: ReadPixels | null, i: number, { nodata }: RenderStyle): ReadPixels | null {
  if (read === null) return null
  const [planes, alpha] = [[read.planes[i]!], read.alpha.slice()]
  dropMissing(planes, alpha, storedNodata(nodata ?? raster.nodata, raster))
  return { ...read, planes, alpha }
}

/** Whether a pixel may have a value in one band and none in another. */
function mayMissBands({ raster }: Layer, { nodata }: RenderStyle): boolean {
  return (nodata ?? raster.nodata) !== null || raster.sampleType.startsWith('float')
}

function choiceOf(bands: readonly number[], { nodata, resampling }: RenderStyle): LayerChoice {
  return { bands, nodata: nodata ?? null, resampling: resampling ?? 'nearest' }
}

function checkCount(values: number): void {
  if (values > MAX_VALUES) throw valuesTooMany({ values, limit: MAX_VALUES })
}

async function readBands(
  layer: Layer,
  view: View,
  style: RenderStyle,
  fallback: readonly number[],
): Promise<ViewValues | null> {
  const { raster } = layer
  const expression = style.expression === undefined ? null : parseExpression(style.expression)
  const bands = expression
    ? expression.names.map((name) => bandNamed(raster, name))
    : style.bidx
      ? bandsOf(raster, style.bidx)
      : fallback
  const count = view.width * view.height
  checkCount(count * Math.max(bands.length, expression?.parts.length ?? 0))
  const read = await layer.read(view, choiceOf(bands, style))
  if (read === null) return null
  const planes = read.planes.map((plane, i) => {
    const { scale, offset } = raster.bands[bands[i] as number] ?? { scale: 1, offset: 0 }
    const isStored = style.unscale !== true || (scale === 1 && offset === 0)
    return isStored ? plane : Float64Array.from(plane, (value) => value * scale + offset)
  })
  if (expression === null) {
    return {
      pixels: { ...read, planes },
      ...namesOfBands(raster, bands),
      type: style.unscale === true ? 'float64' : raster.sampleType,
      isPicture: false,
    }
  }
  const byName = new Map(expression.names.map((name, i) => [name, Float64Array.from(planes[i]!)]))
  const results = expression.evaluate((name) => byName.get(name)!, count)
  return { pixels: { ...read, planes: results }, ...namesOfParts(expression.parts), type: 'float64', isPicture: false }
}

function namesOfBands(raster: RasterInfo, bands: readonly number[]): Pick<ViewValues, 'names' | 'descriptions'> {
  return {
    names: bands.map((band) => `b${band + 1}`),
    descriptions: bands.map((band) => raster.bands[band]?.name ?? `b${band + 1}`),
  }
}

/** Names of a style's values, for a view without values. */
export function namesOf(
  { raster }: Layer,
  { expression, algorithm, bidx }: RenderStyle,
  fallback: readonly number[],
): Pick<ViewValues, 'names' | 'descriptions'> {
  const input =
    expression === undefined
      ? namesOfBands(raster, bidx ? bandsOf(raster, bidx) : fallback)
      : namesOfParts(parseExpression(expression).parts)
  if (algorithm === undefined) return input
  const { planes } = findAlgorithm(algorithm.name, algorithm.parameters).algorithm
  return namesOfPlanes(planes ?? input.names.length)
}

function namesOfPlanes(count: number): Pick<ViewValues, 'names' | 'descriptions'> {
  const names = Array.from({ length: count }, (_, i) => `b${i + 1}`)
  return { names, descriptions: names }
}

function namesOfParts(parts: readonly string[]): Pick<ViewValues, 'names' | 'descriptions'> {
  return { names: parts.map((_, i) => `b${i + 1}`), descriptions: parts }
}

/** `b1` is the first band; other names are those of bands, in any case if only one matches. */
function bandNamed(raster: RasterInfo, name: string): number {
  if (/^b[1-9]\d{0,4}$/.test(name)) return bandsOf(raster, [Number(name.slice(1))])[0]!
  const names = raster.bands.map((band) => band.name ?? '')
  const exact = names.indexOf(name)
  if (exact !== -1) return exact
  const alike = names.flatMap((other, i) => (other.toLowerCase() === name.toLowerCase() ? [i] : []))
  if (alike.length === 1) return alike[0]!
  // TiTiler's name of the first band of an asset.
  if (name.endsWith('_b1')) return bandNamed(raster, name.slice(0, -3))
  const known = names.map((other, i) => (other === '' ? `b${i + 1}` : other)).slice(0, 20)
  throw expressionUnreadable({ why: `there is no band ${name}; there are ${known.join(', ')}` })
}

function runAlgorithm(
  { pixels }: ViewValues,
  { algorithm, parameters }: ReturnType<typeof findAlgorithm>,
  ground: GroundPixel,
): ViewValues {
  checkBands(algorithm, pixels.planes.length)
  const result = algorithm.run(pixels, parameters, ground)
  return {
    pixels: result,
    ...namesOfPlanes(result.planes.length),
    type: algorithm.isPicture ? 'uint8' : 'float64',
    isPicture: algorithm.isPicture,
  }
}

function checkBands({ bands }: Algorithm, count: number): void {
  if (bands !== null && count !== bands) {
    throw algorithmUnreadable({ why: `it takes ${bands} band${bands === 1 ? '' : 's'}, not ${count}` })
  }
}

function widen(view: View, margin: number): View {
  if (margin === 0) return view
  const { left, top, pixelWidth, pixelHeight, plane } = view
  return {
    ...view,
    width: view.width + 2 * margin,
    height: view.height + 2 * margin,
    left: left - margin * pixelWidth,
    top: top + (plane === 'raster' ? -1 : 1) * margin * pixelHeight,
  }
}

function crop(pixels: ReadPixels, margin: number): ReadPixels {
  if (margin === 0) return pixels
  const [width, height] = [pixels.width - 2 * margin, pixels.height - 2 * margin]
  const cut = (from: ArrayLike<number>): Float64Array =>
    Float64Array.from({ length: width * height }, (_, i) => {
      const [x, y] = [i % width, Math.floor(i / width)]
      return from[(y + margin) * pixels.width + x + margin] as number
    })
  return { width, height, planes: pixels.planes.map(cut), alpha: Uint8Array.from(cut(pixels.alpha)) }
}

function finite(pixels: ReadPixels): ReadPixels {
  const alpha = pixels.alpha.map((value, i) =>
    value !== 0 && pixels.planes.every((plane) => Number.isFinite(plane[i])) ? value : 0,
  )
  return { ...pixels, alpha }
}

/** Meters of a degree along the equator. */
const DEGREE = MERCATOR_EDGE / 180

/** Ground size of a pixel. The unit of projected axes counts as a meter, because heights mostly have the same unit. */
function groundOf({ raster, crs }: Layer, view: View): GroundPixel {
  const { plane, pixelWidth, pixelHeight, top, height } = view
  const middle = top - (height * pixelHeight) / 2
  if (plane === 'mercator') {
    const shrink = 1 / Math.cosh((middle / MERCATOR_EDGE) * Math.PI)
    return { width: pixelWidth * shrink, height: pixelHeight * shrink }
  }
  if (plane === 'lnglat' || (view.crs && isPlainLngLat(view.crs))) {
    return { width: pixelWidth * DEGREE * Math.cos((middle * Math.PI) / 180), height: pixelHeight * DEGREE }
  }
  if (plane === 'crs') return { width: pixelWidth, height: pixelHeight }
  const [, xc, xr, y, yc, yr] = view.grid ?? raster.affine ?? [0, 1, 0, 0, 0, 1]
  const [across, down] = [pixelWidth * Math.hypot(xc, yc), pixelHeight * Math.hypot(xr, yr)]
  if (!isPlainLngLat(crs)) return { width: across, height: down }
  const lat = y + (raster.width / 2) * yc + (raster.height / 2) * yr
  return { width: across * DEGREE * Math.cos((lat * Math.PI) / 180), height: down * DEGREE }
}
