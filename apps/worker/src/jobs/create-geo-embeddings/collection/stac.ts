import { stacUnusable } from '../errors.ts'

/** The raster of a STAC item. */
export interface StacRaster {
  readonly name: string
  readonly href: string
  readonly datetime: string | null
}

/** STAC 1.0 and 1.1: only what is looked at. */
interface Item {
  readonly type?: unknown
  readonly id?: unknown
  readonly properties?: { readonly datetime?: unknown; readonly start_datetime?: unknown } | null
  readonly links?: readonly { readonly rel?: unknown; readonly href?: unknown }[]
  readonly assets?: Readonly<Record<string, Asset>>
}
interface Asset {
  readonly href?: unknown
  readonly type?: unknown
  readonly roles?: unknown
}

const GEOTIFF = /^image\/(?:tiff|vnd\.stac\.geotiff)\b/i

/**
 * The rasters of an Item, an ItemCollection or the GeoJSON answer of a search, one per item. Addresses are taken relative to
 * the item's own, else to `base`.
 *
 * @param wanted name or role of the asset; without one each item must have one GeoTIFF only
 * @throws STAC_UNUSABLE, with the item that is at fault
 */
export function rastersOfStac(answer: unknown, wanted: string | null, at: string, base: string | null): StacRaster[] {
  return itemsOf(answer, at).map((item, i) => {
    const id = typeof item.id === 'string' && item.id !== '' ? item.id : `item ${i}`
    const [name, asset] = assetOf(item, id, wanted, at)
    return {
      name: `${id}/${name}`,
      href: addressOf(asset, item, id, at, base),
      datetime: timeOf(item),
    }
  })
}

function itemsOf(answer: unknown, at: string): readonly Item[] {
  const { type, features } = (answer ?? {}) as { type?: unknown; features?: unknown }
  if (type === 'Feature') return [answer as Item]
  if (type === 'FeatureCollection' && Array.isArray(features)) return features as Item[]
  throw stacUnusable({
    why: 'neither a STAC Item nor an ItemCollection (a FeatureCollection with features) is there',
    at,
  })
}

function assetOf(item: Item, id: string, wanted: string | null, at: string): readonly [string, Asset] {
  const assets = Object.entries(item.assets ?? {})
  const has = () => `it has ${assets.map(([name]) => name).join(', ') || 'none'}`
  if (wanted === null) {
    const rasters = assets.filter(([, { type, roles }]) => {
      const isData = !Array.isArray(roles) || !roles.some((role) => role === 'thumbnail' || role === 'overview')
      return typeof type === 'string' && GEOTIFF.test(type) && isData
    })
    if (rasters.length === 1) return rasters[0]!
    const why = rasters.length === 0 ? 'no asset that is a GeoTIFF' : `${rasters.length} GeoTIFFs (send stac.asset)`
    throw stacUnusable({ why: `item ${id} has ${why}; ${has()}`, at })
  }
  const byName = assets.find(([name]) => name === wanted)
  if (byName) return byName
  const byRole = assets.filter(([, { roles }]) => Array.isArray(roles) && roles.includes(wanted))
  if (byRole.length === 1) return byRole[0]!
  const why =
    byRole.length === 0 ? `no asset of the name or role ${wanted}` : `${byRole.length} assets of the role ${wanted}`
  throw stacUnusable({ why: `item ${id} has ${why}; ${has()}`, at })
}

function addressOf(asset: Asset, item: Item, id: string, at: string, base: string | null): string {
  const self = item.links?.find(({ rel }) => rel === 'self')?.href
  const from = typeof self === 'string' && URL.canParse(self) ? self : base
  const url = typeof asset.href === 'string' ? URL.parse(asset.href, from ?? undefined) : null
  if (url?.protocol === 'https:' || url?.protocol === 'http:') return url.href
  throw stacUnusable({
    why: `item ${id} has the address ${String(asset.href).slice(0, 200)}, which is no https URL`,
    at,
  })
}

/** The time of an item, or the beginning of its time. */
function timeOf({ properties }: Item): string | null {
  const text = properties?.datetime ?? properties?.start_datetime
  const time = typeof text === 'string' ? new Date(text) : null
  return time === null || Number.isNaN(time.getTime()) ? null : time.toISOString()
}
