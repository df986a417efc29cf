import { boundsView, crsForLayer, ownBounds, unwrapped } from '../area-view.ts'
import { defaultBands as shownBands } from '../bands.ts'
import { describeRaster } from '../describe.ts'
import { boundsOf, visibleRect } from '../extent.ts'
import { encodePicture } from '../encode.ts'
import type { Layer } from '../layer.ts'
import type { ReadPixels } from '../pixels.ts'
import type { Picture } from '../paint.ts'
import type { RasterRenderer } from '../renderer.ts'
import type { RenderStyle } from '../style.ts'
import { namesOf, readEachBand, readValues } from '../values/derive.ts'
import type { ViewValues } from '../values/derive.ts'
import { encodeGeoTiff } from '../values/geotiff.ts'
import { encodeNpy } from '../values/npy.ts'
import { cutShape, insideOf } from '../values/shape.ts'
import { bandStatistics } from '../values/statistics.ts'
import { pointView, tileView } from '../view.ts'
import type { View } from '../view.ts'
import type {
  BoxArea,
  PointArea,
  PointValues,
  RasterStatistics,
  RenderRequest,
  TileArea,
  WholeArea,
} from './messages.ts'

type Area = TileArea | BoxArea | WholeArea | PointArea
type PictureRequest = Extract<RenderRequest, { kind: 'picture' }>
type PointRequest = Extract<RenderRequest, { kind: 'point' }>

/** Answers a request about an opened raster; null when the raster has no data for it. */
export async function answer(renderer: RasterRenderer, request: RenderRequest): Promise<unknown> {
  if (request.kind === 'describe') return describeRaster(renderer)
  if (request.kind === 'picture') return drawn(renderer, request)
  const { layer } = renderer
  const view = viewOf(layer, request.area)
  const found = await readEachBand(layer, view, request.style, opaqueBands(layer))
  if (request.kind === 'point') return pointOf(layer, request, found)
  if (found.every(({ values }) => values === null) && visibleRect(view, layer.boxes) === null) return null
  const cut = found.map(({ style, values }) => cutValues(values, view, request.area) ?? emptyValues(layer, view, style))
  const shape = request.area.type === 'box' ? request.area.shape : null
  const total = shape ? insideOf(view, shape).reduce((sum, value) => sum + value, 0) : view.width * view.height
  return Object.fromEntries(
    cut.flatMap(({ pixels, names, descriptions }) =>
      pixels.planes.map((plane, i) => {
        const statistics = bandStatistics(plane, pixels.alpha, request.options, total)
        return [names[i], { ...statistics, description: descriptions[i] }]
      }),
    ),
  ) satisfies RasterStatistics
}

/** Values of a view without a valid pixel. */
function emptyValues(
  layer: Layer,
  { width, height }: View,
  style: RenderStyle,
): Omit<ViewValues, 'type' | 'isPicture'> {
  const texts = namesOf(layer, style, opaqueBands(layer))
  const planes = texts.names.map(() => new Float32Array(width * height))
  return { ...texts, pixels: { width, height, planes, alpha: new Uint8Array(width * height) } }
}

async function drawn(renderer: RasterRenderer, request: PictureRequest): Promise<Uint8Array | null> {
  const { style, format, mask, area, background } = request
  const { layer } = renderer
  const view = viewOf(layer, area)
  const isColored = style.rescale !== undefined || style.colormap !== undefined || style.colorFormula !== undefined
  if ((format === 'npy' || format === 'tif') && !isColored) {
    const found = await valuesOf(layer, view, request)
    const type = style.unscale === true ? 'float64' : layer.raster.sampleType
    const values =
      found ?? (background === undefined ? null : { ...emptyValues(layer, view, style), type, isPicture: false })
    return values && encodeValues(values, view, layer, { format, mask })
  }
  const whole = await renderer.render(view, style)
  const { width, height } = view
  const blank = background === undefined ? null : { width, height, rgba: new Uint8Array(4 * width * height) }
  const picture = (whole && cutPicture(whole, view, area)) ?? blank
  if (picture === null) return null
  if (format !== 'npy' && format !== 'tif') return encodePicture(picture, format, mask, background)
  return encodeValues(valuesOfPicture(picture, isGray(layer, style)), view, layer, { format, mask })
}

function encodeValues(
  values: ViewValues,
  view: View,
  layer: Layer,
  { format, mask }: { readonly format: 'npy' | 'tif'; readonly mask: boolean },
): Uint8Array {
  return format === 'npy'
    ? encodeNpy(values.pixels, values.type, mask)
    : encodeGeoTiff(values, view, layer.reference ?? layer, mask)
}

/** Whether a picture shows one band in gray, whatever its values are. */
function isGray(layer: Layer, style: RenderStyle): boolean {
  if (style.colormap !== undefined || layer.raster.palette !== null) return false
  return namesOf(layer, style, shownBands(layer.raster)).names.length === 1
}

/** Colours as values: one band of gray, or three. */
function valuesOfPicture({ width, height, rgba }: Picture, gray: boolean): ViewValues {
  const channels = gray ? 1 : 3
  const channel = (offset: number): Float32Array =>
    Float32Array.from({ length: width * height }, (_, i) => rgba[4 * i + offset] as number)
  const planes = Array.from({ length: channels }, (_, i) => channel(i))
  const names = planes.map((_, i) => `b${i + 1}`)
  const alpha = Uint8Array.from(channel(3))
  return { pixels: { width, height, planes, alpha }, names, descriptions: names, type: 'uint8', isPicture: true }
}

function cutPicture(picture: Picture, view: View, area: Area): Picture | null {
  if (area.type !== 'box' || area.shape === null) return picture
  const { width, height, rgba } = picture
  const alpha = Uint8Array.from({ length: width * height }, (_, i) => rgba[4 * i + 3] as number)
  const cut = cutShape({ width, height, planes: [], alpha }, view, area.shape).alpha
  if (!cut.some((value) => value > 0)) return null
  const shown = rgba.map((value, i) => (cut[i >> 2] === 0 ? 0 : value))
  return { ...picture, rgba: shown }
}

function opaqueBands({ raster: { bands, palette } }: Layer): number[] {
  const all = palette === null ? bands : bands.slice(0, 1)
  return all.flatMap(({ index, color }) => (color === 'alpha' ? [] : [index]))
}

/** Values of the named bands, or of all bands. */
async function valuesOf(
  layer: Layer,
  view: View,
  { area, style }: { readonly area: Area; readonly style: RenderStyle },
): Promise<ViewValues | null> {
  return cutValues(await readValues(layer, view, style, opaqueBands(layer)), view, area)
}

/** The values within the shape of an area; null without any. */
function cutValues(values: ViewValues | null, view: View, area: Area): ViewValues | null {
  if (values === null || area.type !== 'box' || area.shape === null) return values
  const pixels: ReadPixels = cutShape(values.pixels, view, area.shape)
  return pixels.alpha.some((value) => value > 0) ? { ...values, pixels } : null
}

/** Null outside; a band without data at the position has null. */
function pointOf(
  layer: Layer,
  { area }: PointRequest,
  found: Awaited<ReturnType<typeof readEachBand>>,
): PointValues | null {
  const [lng, lat] = area.position
  const isInside = layer.boxes.some(
    ([west, south, east, north]) => lng >= west && lng <= east && lat >= south && lat <= north,
  )
  if (!isInside && found.every(({ values }) => values === null)) return null
  const parts = found.map(({ style, values }) => {
    if (values === null) {
      const { names, descriptions } = namesOf(layer, style, opaqueBands(layer))
      return { values: names.map(() => null), names, descriptions }
    }
    const { pixels, names, descriptions } = values
    return { values: pixels.planes.map((plane) => plane[0] as number), names, descriptions }
  })
  return {
    values: parts.flatMap(({ values }) => values),
    names: parts.flatMap(({ names }) => names),
    descriptions: parts.flatMap(({ descriptions }) => descriptions),
  }
}

function viewOf(layer: Layer, area: Area): View {
  if (area.type === 'tile') return tileView(area.z, area.x, area.y, area.size, area.buffer, area.set)
  if (area.type === 'point') return pointView(area.position)
  if (area.type === 'preview') return wholeViewOf(layer, area)
  const { bounds, boundsCrs, crs, size, maxSize } = area
  const [from, to] = [crsForLayer(layer, boundsCrs), crsForLayer(layer, crs)]
  return boundsView(layer, { bounds, from, to, size, maxSize })
}

function wholeViewOf(layer: Layer, { crs, size, maxSize }: WholeArea): View {
  const isMosaic = layer.reference !== null
  if (crs === undefined || (crs === null && !isMosaic)) return layer.wholeView(size, maxSize)
  const to = crsForLayer(layer, crs)
  // The bounds of a mosaic are those of all its layers.
  const bounds = isMosaic ? unwrapped(boundsOf(layer.boxes)) : ownBounds(layer.raster)
  return boundsView(layer, { bounds, from: isMosaic ? crsForLayer(layer, 4326) : layer.crs, to, size, maxSize })
}
