import { lngLatBoxOf, toLngLat, type CrsBounds, type LngLatBox } from '@terrane/tiling/raster'
import { badParameter } from './errors.ts'

/** A box in the coordinates of a request, and in degrees. */
export interface RequestBox {
  readonly bounds: CrsBounds
  /** EPSG code of `bounds`. */
  readonly boundsCrs: number
  /** West, south, east, north. */
  readonly box: LngLatBox
}

/** Converts coordinates of a request to longitude and latitude. */
export type ToLngLat = (x: number, y: number) => readonly [number, number]

/** The CRS of the coordinates of a request, `coord_crs`: EPSG:4326 unless given. */
export function coordinateCrsOf(query: URLSearchParams): number {
  return epsgOf('coord_crs', query.get('coord_crs')) ?? LNGLAT
}

/** Converter for `coord_crs`, x first in every CRS. @throws BAD_PARAMETER, UNSUPPORTED_CRS, CRS_NEEDS_GRID */
export function coordinatesOf(query: URLSearchParams): ToLngLat {
  return toLngLat(coordinateCrsOf(query))
}

/** EPSG code of the CRS in which pixels are squares, `dst_crs`; that of the coordinates unless given. */
export function targetCrsOf(query: URLSearchParams): number {
  return epsgOf('dst_crs', query.get('dst_crs')) ?? coordinateCrsOf(query)
}

/** `EPSG:32633`, `[EPSG:32633]`, an OGC URN or URL, or CRS84, as a code; null without a text. @throws BAD_PARAMETER */
export function epsgOf(name: string, text: string | null): number | null {
  if (text === null) return null
  const plain = text.trim().replace(/^[[<](.*)[\]>]$/, '$1')
  if (/(^|[:/])CRS84$/i.test(plain)) return LNGLAT
  const [, code] =
    /^(?:epsg:|urn:ogc:def:crs:epsg:[\d.]*:|https?:\/\/www\.opengis\.net\/def\/crs\/epsg\/[\d.]+\/)(\d{4,6})$/i.exec(
      plain,
    ) ?? []
  if (code !== undefined) return Number(code)
  throw badParameter({ name, value: text.slice(0, 60), wanted: 'an EPSG code such as epsg:32633 is wanted' })
}

/** `minx,miny,maxx,maxy`, x first. @throws BAD_PARAMETER, UNSUPPORTED_CRS, CRS_NEEDS_GRID */
export function boxOf(text: string, boundsCrs: number): RequestBox {
  const numbers = text.split(',').map((part) => (part.trim() === '' ? Number.NaN : Number(part)))
  const [left = Number.NaN, bottom = Number.NaN, right = Number.NaN, top = Number.NaN] = numbers
  const bounds = [left, bottom, right, top] as const
  if (numbers.length === 4 && left < right && bottom < top) {
    const box = lngLatBoxOf(bounds, boundsCrs)
    const [west, south, east, north] = box
    const isOnEarth = west < east && south < north && south >= -90 && north <= 90 && west >= -540 && east <= 540
    if (isOnEarth) return { bounds, boundsCrs, box }
  }
  const wanted =
    'west,south,east,north in degrees or in the CRS of the coordinates is wanted; across the antimeridian east is above 180'
  throw badParameter({ name: 'bbox', value: text.slice(0, 100), wanted })
}

const LNGLAT = 4326
