import { TerraneError } from '@terrane/core'
import {
  namedColormap,
  type AlgorithmParameters,
  type Colormap,
  type PictureFormat,
  type RenderStyle,
  type Rgba,
} from '@terrane/tiling/raster'
import { badParameter, notOffered } from './errors.ts'

/** Parameters of TiTiler that would change the picture and are not offered. They are refused, not ignored. */
const NOT_OFFERED = ['asset_bidx', 'bbox', 'bbox-crs', 'crs', 'f']
/** Names of GDAL and TiTiler; other methods are refused. */
const RESAMPLING = ['nearest', 'bilinear'] as const

/** Largest picture, in pixels of a side. */
const MAX_SIDE = 2048

/**
 * TiTiler's parameters of a picture: `bidx`, `rescale`, `colormap_name`, `colormap`, `nodata`, `unscale`, `resampling` and
 * `reproject`, which are one here, `expression`, `algorithm`, `algorithm_params` and `color_formula`.
 *
 * @throws BAD_PARAMETER, PARAMETER_NOT_OFFERED, UNKNOWN_COLORMAP
 */
export function readStyle(query: URLSearchParams): RenderStyle {
  for (const name of NOT_OFFERED) if (query.has(name)) throw notOffered({ name })
  // `padding` and `asset_as_band` are checked and have no effect: the renderer always reads pixels around a tile, and
  // bands are named after their assets.
  if (query.has('padding')) integer('padding', query.get('padding') as string, 0, 1024)
  if (query.has('asset_as_band')) truth('asset_as_band', query.get('asset_as_band') as string)
  const bidx = query.getAll('bidx').map((text) => integer('bidx', text, 1, 65_535))
  const rescale = query.getAll('rescale').map(rangeOf)
  const colormap = colormapOf(query)
  const nodata = query.get('nodata')
  const unscale = query.get('unscale')
  const resampling = query.get('reproject') ?? query.get('resampling')
  return {
    ...(bidx.length > 0 && { bidx }),
    ...(rescale.length > 0 && { rescale }),
    ...(colormap && { colormap }),
    ...(nodata !== null && { nodata: nodata.toLowerCase() === 'nan' ? Number.NaN : number('nodata', nodata) }),
    ...(unscale !== null && { unscale: truth('unscale', unscale) }),
    ...(resampling !== null && { resampling: oneOf('resampling', resampling, RESAMPLING) }),
    ...valuesOf(query),
  }
}

/** Texts for computations on values and colours; the renderer parses them. */
function valuesOf(query: URLSearchParams): Pick<RenderStyle, 'expression' | 'algorithm' | 'colorFormula'> {
  const expression = query.get('expression')
  const formula = query.get('color_formula')
  const name = query.get('algorithm')
  const text = query.get('algorithm_params')
  if (expression !== null && query.has('bidx')) {
    throw badParameter({
      name: 'expression',
      value: expression.slice(0, 60),
      wanted: 'either expression or bidx is wanted',
    })
  }
  if (name === null && text !== null) {
    throw badParameter({
      name: 'algorithm_params',
      value: text.slice(0, 60),
      wanted: 'an algorithm is wanted beside it',
    })
  }
  return {
    ...(expression !== null && { expression }),
    ...(formula !== null && { colorFormula: formula }),
    ...(name !== null && { algorithm: { name, parameters: algorithmParameters(text) } }),
  }
}

function algorithmParameters(text: string | null): AlgorithmParameters {
  if (text === null) return {}
  const fault = badParameter({
    name: 'algorithm_params',
    value: text.slice(0, 60),
    wanted: 'JSON with numbers is wanted',
  })
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw fault
  }
  const isFit =
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.values(value).every(Number.isFinite)
  if (!isFit) throw fault
  return value as AlgorithmParameters
}

/** The format by the extension of the path, or by Accept, or else PNG. */
export function formatOf(extension: string | undefined, accept: string | undefined): PictureFormat {
  if (extension === undefined) return accept?.includes('image/webp') ? 'webp' : 'png'
  const name = extension === 'jpg' ? 'jpeg' : extension === 'tiff' ? 'tif' : extension
  return oneOf('format', name, ['png', 'webp', 'jpeg', 'npy', 'tif'] as const)
}

/** The requested size; null without `width` and `height`. @throws BAD_PARAMETER */
export function sizeOf(query: URLSearchParams): readonly [number, number] | null {
  const [width, height] = [query.get('width'), query.get('height')]
  if (width === null && height === null) return null
  if (width !== null && height !== null) return [sideOf('width', width, 1), sideOf('height', height, 1)]
  throw badParameter({ name: 'width', value: width ?? '', wanted: 'width and height are wanted together' })
}

/** Coordinate plane in which the pixels of a box are squares. @throws BAD_PARAMETER */
export function planeOf(query: URLSearchParams): 'mercator' | 'lnglat' {
  const text = (query.get('dst_crs') ?? 'epsg:3857').toLowerCase()
  return oneOf('dst_crs', text, ['epsg:3857', 'epsg:4326']) === 'epsg:4326' ? 'lnglat' : 'mercator'
}

/** Converts coordinates of a request to longitude and latitude. */
export type ToLngLat = (x: number, y: number) => readonly [number, number]

/** Converter for `coord_crs`: `epsg:4326` (default) or `epsg:3857`, x first in both. @throws BAD_PARAMETER */
export function coordinatesOf(query: URLSearchParams): ToLngLat {
  const text = (query.get('coord_crs') ?? 'epsg:4326').toLowerCase()
  if (oneOf('coord_crs', text, ['epsg:3857', 'epsg:4326']) === 'epsg:4326') return (x, y) => [x, y]
  const radius = 6_378_137
  return (x, y) => [(x / radius) * DEGREES, Math.atan(Math.sinh(y / radius)) * DEGREES]
}

const DEGREES = 180 / Math.PI

/** Whether a picture has transparency where there are no data. */
export function maskOf(query: URLSearchParams): boolean {
  const text = query.get('return_mask')
  return text === null || truth('return_mask', text)
}

/** A side of a picture in pixels. */
export function sideOf(name: string, text: string | null, otherwise: number): number {
  return text === null ? otherwise : integer(name, text, 1, MAX_SIDE)
}

/** @throws BAD_PARAMETER */
export function integer(name: string, text: string, least: number, most: number): number {
  const value = Number(text)
  if (/^\d{1,9}$/.test(text) && value >= least && value <= most) return value
  throw badParameter({ name, value: text, wanted: `a whole number from ${least} to ${most} is wanted` })
}

/** @throws BAD_PARAMETER */
export function number(name: string, text: string): number {
  const value = Number(text)
  if (text.trim() !== '' && Number.isFinite(value)) return value
  throw badParameter({ name, value: text, wanted: 'a number is wanted' })
}

/** @throws BAD_PARAMETER */
export function truth(name: string, text: string): boolean {
  if (/^(true|1)$/i.test(text)) return true
  if (/^(false|0)$/i.test(text)) return false
  throw badParameter({ name, value: text, wanted: 'true or false is wanted' })
}

/** One of some words. @throws BAD_PARAMETER */
export function oneOf<T extends string>(name: string, text: string, values: readonly T[]): T {
  const found = values.find((value) => value === text)
  if (found !== undefined) return found
  throw badParameter({ name, value: text, wanted: `one of ${values.join(', ')} is wanted` })
}

function rangeOf(text: string): readonly [number, number] {
  const [min = Number.NaN, max = Number.NaN, ...more] = text.split(',').map((part) => number('rescale', part))
  if (more.length === 0 && min < max) return [min, max]
  throw badParameter({ name: 'rescale', value: text, wanted: 'min,max with min below max is wanted' })
}

function colormapOf(query: URLSearchParams): Colormap | null {
  const name = query.get('colormap_name')
  const text = query.get('colormap')
  if (name !== null && text !== null) {
    throw badParameter({
      name: 'colormap',
      value: text,
      wanted: 'either colormap or colormap_name is wanted, not both',
    })
  }
  if (name !== null) return namedColormap(name.toLowerCase())
  if (text === null) return null
  try {
    return customColormap(JSON.parse(text))
  } catch (error) {
    if (error instanceof TerraneError) throw error
    throw badColormap(text)
  }
}

/** `{"0": "#ff0000", …}` for values, `[[[0, 10], [255, 0, 0, 255]], …]` for ranges. */
function customColormap(value: unknown): Colormap {
  if (Array.isArray(value)) {
    const ranges = value.map((entry) => {
      const [range, color] = entry as [unknown, unknown]
      const [from, to] = range as [unknown, unknown]
      if (typeof from !== 'number' || typeof to !== 'number') throw badColormap(JSON.stringify(entry))
      return { from, to, color: colorOf(color) }
    })
    return { kind: 'ranges', ranges }
  }
  if (value === null || typeof value !== 'object') throw badColormap(JSON.stringify(value))
  const colors = Object.entries(value).map(([key, color]) => [number('colormap', key), colorOf(color)] as const)
  return { kind: 'values', colors: new Map(colors) }
}

function colorOf(value: unknown): Rgba {
  if (typeof value === 'string') {
    const parts = /^#([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})([0-9a-f]{2})?$/i.exec(value)
    if (parts) {
      const [r = 0, g = 0, b = 0, a = 255] = parts.slice(1).map((part) => (part ? Number.parseInt(part, 16) : 255))
      return [r, g, b, a]
    }
  }
  if (Array.isArray(value) && (value.length === 3 || value.length === 4) && value.every(isByte)) {
    const [r, g, b, a = 255] = value as [number, number, number, number?]
    return [r, g, b, a]
  }
  throw badColormap(JSON.stringify(value))
}

function isByte(value: unknown): boolean {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 255
}

function badColormap(value: string): TerraneError {
  const wanted = 'JSON like {"1": "#ff0000"} or [[[0, 10], [255, 0, 0, 255]]] is wanted'
  return badParameter({ name: 'colormap', value: value.slice(0, 100), wanted })
}
