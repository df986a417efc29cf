import { sceneUnusable } from '../errors.ts'

/** Maximum number of bands of one asset (imaging spectrometers have hundreds), and of all assets. */
const MAX_BANDS = 512
const MAX_ALL_BANDS = 4096

/** A band of an asset of a STAC item. */
export interface StacBand {
  /** Name of the asset. */
  readonly asset: string
  readonly href: string
  /** 0-based; null for all bands, when the number of bands is not stated. */
  readonly band: number | null
  /** Names of the band, the agency's first. */
  readonly names: readonly string[]
  /** `eo:common_name`, or the polarisation of a radar; null without one. */
  readonly common: string | null
  readonly roles: readonly string[]
  readonly scale: number | null
  readonly offset: number | null
  readonly nodata: number | null
  /** Side of a pixel; null when not stated. */
  readonly pixel: number | null
  /** Number of bands of the asset. */
  readonly of: number
  /** Number of its bands whose values `raster:bands` states, where those are some only; null otherwise. */
  readonly stated: number | null
}

/** The members of a STAC item that concern its pixels. */
export interface StacItem {
  readonly id: string
  readonly collection: string | null
  readonly properties: Readonly<Record<string, unknown>>
  /** Acquisition time, or its start, as the item states it (RFC 3339); null without one. */
  readonly datetime: string | null
  /** URL of the item from its own `self` link. */
  readonly self: string | null
  /** Bands of its GeoTIFFs, in the order of its assets. */
  readonly bands: readonly StacBand[]
  /** Names of all of its assets. */
  readonly assets: readonly string[]
}

type Fields = Readonly<Record<string, unknown>>

const GEOTIFF = /^image\/(?:tiff|vnd\.stac\.geotiff)\b/i

/**
 * Reads a STAC item of version 1.0 or 1.1, with the extensions eo, raster, sar and alternate-assets as used in
 * practice.
 *
 * Source: https://github.com/radiantearth/stac-spec, https://github.com/stac-extensions
 *
 * @param position index in the list, to identify an item without an id
 * @throws SCENE_UNUSABLE for more than 512 bands of an asset, or 4,096 of all
 */
export function readStacItem(value: unknown, position: number): StacItem {
  const item = fieldsOf(value)
  const properties = fieldsOf(item['properties'])
  const assets = Object.entries(fieldsOf(item['assets']))
  const links = listOf(item['links']).map(fieldsOf)
  const bands = assets.flatMap(([name, asset]) => bandsOf(name, fieldsOf(asset), properties))
  if (bands.length > MAX_ALL_BANDS) throw sceneUnusable({ why: `an item has ${bands.length} bands` })
  return {
    id: textOf(item['id']) ?? `item ${position}`,
    collection: textOf(item['collection']),
    properties,
    datetime: textOrNull(properties['datetime'] ?? properties['start_datetime']),
    self: textOf(links.find(({ rel }) => rel === 'self')?.['href']),
    bands,
    assets: assets.map(([name]) => name),
  }
}

function bandsOf(asset: string, fields: Fields, properties: Fields): StacBand[] {
  const href = webAddress(fields)
  const type = textOf(fields['type'])
  if (href === null || !(type === null ? /\.tiff?(?:[?#]|$)/i.test(href) : GEOTIFF.test(type))) return []
  const eo = listOf(fields['eo:bands']).map(fieldsOf)
  const raster = listOf(fields['raster:bands']).map(fieldsOf)
  const bands = listOf(fields['bands']).map(fieldsOf)
  const polarizations = listOf(fields['sar:polarizations']).flatMap((one) => textOf(one) ?? [])
  const of = Math.max(eo.length, raster.length, bands.length)
  if (of > MAX_BANDS) throw sceneUnusable({ why: `asset ${asset.slice(0, 100)} has ${of} bands` })
  const roles = listOf(fields['roles']).flatMap((role) => textOf(role) ?? [])
  return Array.from({ length: Math.max(1, of) }, (_, i) => {
    const own = (name: string): unknown =>
      [bands[i], fields, properties].find((one) => one && Object.hasOwn(one, name))?.[name]
    const values = { ...raster[i] }
    const polarization = of <= 1 && polarizations.length === 1 ? (polarizations[0] as string) : null
    const names = [eo[i]?.['name'], bands[i]?.['name'], polarization, of <= 1 ? asset.replace(/\.tiff?$/i, '') : null]
    return {
      asset,
      href,
      band: of === 0 ? null : i,
      names: [...new Set(names.flatMap((name) => textOf(name) ?? []))],
      common: textOf(eo[i]?.['common_name'] ?? own('eo:common_name')) ?? polarization?.toLowerCase() ?? null,
      roles,
      scale: numberOf(values['scale'] ?? own('raster:scale')),
      offset: numberOf(values['offset'] ?? own('raster:offset')),
      nodata: numberOf(values['nodata'] ?? own('nodata')),
      pixel: pixelOf(values['spatial_resolution'], bands[i], fields),
      of,
      stated: i >= raster.length && raster.some(isMeasured) ? raster.length : null,
    }
  })
}

/** Whether an entry of `raster:bands` says that stored numbers mean others. */
function isMeasured({ scale = 1, offset = 0, nodata }: Fields): boolean {
  return numberOf(scale) !== 1 || numberOf(offset) !== 0 || nodata !== undefined
}

/** Side of a pixel of an asset: its resolution, the step of its grid or its ground sampling distance. */
function pixelOf(resolution: unknown, band: Fields | undefined, asset: Fields): number | null {
  const step = numberOf(listOf(asset['proj:transform'])[0])
  const stated = [resolution, band?.['raster:spatial_resolution'], asset['raster:spatial_resolution']]
  return numberOf(stated.find((one) => one !== undefined) ?? (step === null ? asset['gsd'] : Math.abs(step)))
}

/** URL of an asset; an alternate URL if its own is not a web address (`s3://…`). */
function webAddress(fields: Fields): string | null {
  const own = textOf(fields['href'])
  const others = Object.values(fieldsOf(fields['alternate'])).flatMap((one) => textOf(fieldsOf(one)['href']) ?? [])
  const isElsewhere = own !== null && /^(?!https?:)[a-z][a-z0-9+.-]*:\/\//i.test(own)
  return (isElsewhere ? others.find((href) => /^https?:\/\//i.test(href)) : undefined) ?? own
}

function textOrNull(value: unknown): string | null {
  if (value === undefined || value === null || value === '') return null
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** JSON has no NaN, so STAC writes it as a text; some writers write all numbers so. Infinities are never data. */
function numberOf(value: unknown): number | null {
  if (typeof value === 'string' && value.toLowerCase() === 'nan') return Number.NaN
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof number === 'number' && Number.isFinite(number) ? number : null
}
