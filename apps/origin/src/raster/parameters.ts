import { TerraneError } from '@terrane/core'
import {
  RESAMPLINGS,
  namedColormap,
  type AlgorithmParameters,
  type Colormap,
  type PictureFormat,
  type RenderStyle,
  type Rgba,
  type WantedSize,
} from '@terrane/tiling/raster'
import { badParameter, notOffered } from './errors.ts'

/** Parameters of `map` alone. Elsewhere they would change nothing, so they are refused. */
export const MAP_PARAMETERS = ['bbox', 'bbox-crs', 'crs', 'f'] as const

/** Largest picture, in pixels of a side. */
const MAX_SIDE = 2048

/**
 * TiTiler's parameters of a picture: `bidx`, `rescale`, `colormap_name`, `colormap`, `nodata`, `unscale`, `resampling` and
 * `reproject`, which are one here, `expression`, `algorithm`, `algorithm_params` and `color_formula`.
 *
 * @param taken parameters of the path itself
 * @throws BAD_PARAMETER, PARAMETER_NOT_OFFERED, UNKNOWN_COLORMAP
 */
export function readStyle(query: URLSearchParams, taken: readonly string[] = []): RenderStyle {
  for (const name of MAP_PARAMETERS) if (query.has(name) && !taken.includes(name)) throw notOffered({ name })
  // Checked without an effect: tiles always read pixels around them, and bands are named after their assets.
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
    ...(resampling !== null && { resampling: oneOf('resampling', resampling, RESAMPLINGS) }),
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

const FORMATS = ['png', 'webp', 'jpeg', 'npy', 'tif'] as const
/** Formats by their media types. */
const MEDIA: ReadonlyMap<string, PictureFormat> = new Map([
  ['image/png', 'png'],
  ['image/webp', 'webp'],
  ['image/jpeg', 'jpeg'],
  ['image/jpg', 'jpeg'],
  ['image/tiff', 'tif'],
  ['application/x-binary', 'npy'],
] as const)

/** The format by the extension of the path, else the first one of the highest quality in Accept, else PNG. */
export function formatOf(extension: string | undefined, accept: string | undefined): PictureFormat {
  if (extension === undefined) return acceptedFormat(accept ?? '') ?? 'png'
  const name = extension === 'jpg' ? 'jpeg' : extension === 'tiff' ? 'tif' : extension
  return oneOf('format', name, FORMATS)
}

function acceptedFormat(accept: string): PictureFormat | null {
  let [best, found] = [0, null as PictureFormat | null]
  for (const range of accept.toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const quality = Number(parameters.find((part) => part.startsWith('q='))?.slice(2) ?? 1)
    const format = MEDIA.get(type)
    if (format !== undefined && quality > best) [best, found] = [quality, format]
  }
  return found
}

/** Width and height; null for a side that follows from the other one, and null without both. @throws BAD_PARAMETER */
export function sizeOf(query: URLSearchParams): WantedSize | null {
  const [width, height] = (['width', 'height'] as const).map((name) => {
    const text = query.get(name)
    return text === null ? null : sideOf(name, text, 1)
  }) as [number | null, number | null]
  return width === null && height === null ? null : [width, height]
}

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
