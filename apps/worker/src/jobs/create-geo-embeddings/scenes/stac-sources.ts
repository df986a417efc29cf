import { MAX_GEO_SOURCES, type CreateGeoEmbeddings } from '@terrane/contracts'
import { TerraneError } from '@terrane/core'
import type { GuardedFetch } from '@terrane/service'
import {
  chooseBands,
  fileNear,
  readStacItem,
  type ChosenBand,
  type ChosenBands,
  type FileSource,
  type StacItem,
} from '@terrane/tiling/scene'
import type { Project } from '../../task.ts'
import { instantOf } from '../../times.ts'
import { noSources, stacUnusable } from '../errors.ts'
import { fileOf, type SceneAsset } from '../source.ts'
import { fetchItems, itemsOf } from './stac-pages.ts'
import { MAX_ITEM_BYTES, parseStac, readObject, readFileUnderRoots } from './read-text.ts'

type StacSources = NonNullable<CreateGeoEmbeddings['stac']>

/** A raster of an item: its own fields in the request, and its fields in the catalogue. */
export interface StacRaster {
  readonly name: string
  readonly own: Partial<CreateGeoEmbeddings>
  readonly facts: SourceFacts
}

/** Fields of a source's item in the catalogue, by name, beside its time. */
export type SourceFacts = Readonly<Record<string, unknown>>

interface Context {
  readonly project: Pick<Project, 'store'>
  readonly dataRoots: readonly string[]
  /** Null when fetching is not allowed. */
  readonly remote: { readonly fetch: GuardedFetch; readonly signal: AbortSignal } | null
  /** The model's names of its channels. */
  readonly channels: readonly string[]
}

/**
 * The rasters of STAC items, one per item; null when they would have to be fetched and fetching is not allowed.
 *
 * @throws STAC_UNUSABLE, NO_SOURCES
 */
export async function rastersOfStac(stac: StacSources, context: Context): Promise<StacRaster[] | null> {
  checkFields(stac)
  const at = stac.items ? '/stac/items' : stac.storagePath ? '/stac/storagePath' : '/stac/url'
  const read = (item: unknown, base: FileSource | null, index: number): StacRaster =>
    rasterOf(item, index, { stac, base, at, channels: context.channels })
  const found = await readItems(stac, context, read)
  if (found?.length === 0) throw noSources({ where: 'among the STAC items: there are none', at })
  return found
}

function checkFields({ items, url, storagePath, search, asset, assets, maskAsset, ...stac }: StacSources): void {
  if ([items, url, storagePath].filter((field) => field !== undefined).length !== 1) {
    throw stacUnusable({ why: 'one of items and url is needed, or storagePath', at: '/stac' })
  }
  if (search !== undefined && !/^https?:\/\//i.test(url ?? '')) {
    throw stacUnusable({ why: 'search needs the url of an API', at: '/stac/search' })
  }
  if (asset !== undefined && assets !== undefined) {
    throw stacUnusable({ why: 'asset and assets cannot be combined', at: '/stac/asset' })
  }
  if (maskAsset === undefined && (stac.maskValues ?? stac.maskBits) !== undefined) {
    throw stacUnusable({ why: 'maskValues and maskBits need a maskAsset', at: '/stac/maskAsset' })
  }
}

/** @param read makes a raster from an item; `base` is its file, null for an item in the request */
async function readItems(
  stac: StacSources,
  { project, dataRoots, remote }: Context,
  read: (item: unknown, base: FileSource | null, index: number) => StacRaster,
): Promise<StacRaster[] | null> {
  const { items, url, storagePath, search = null, maxItems } = stac
  // One more than the maximum, to notice that there are too many.
  const limit = maxItems ?? MAX_GEO_SOURCES + 1
  const within = (all: readonly unknown[], base: FileSource | null): StacRaster[] =>
    all.slice(0, limit).map((item, i) => read(item, base, i))
  if (items) return within(itemsOf(items, '/stac/items'), null)
  const base = fileOf({ ...(storagePath && { storagePath }), ...(url !== undefined && { geotiffPath: url }) })!
  if (base.kind === 'url') {
    if (remote === null) return null
    return fetchItems(base.url, search, {
      ...remote,
      limit,
      read: (item, page, index) => read(item, { kind: 'url', url: page }, index),
    })
  }
  const at = base.kind === 'storage' ? '/stac/storagePath' : '/stac/url'
  const text =
    base.kind === 'storage'
      ? await readObject(project.store, base, { maxBytes: MAX_ITEM_BYTES, signal: remote?.signal })
      : await readFileUnderRoots(dataRoots, base.path, { maxBytes: MAX_ITEM_BYTES, at })
  return within(itemsOf(parseStac(text, at), at), base)
}

interface ItemContext {
  readonly stac: StacSources
  readonly base: FileSource | null
  readonly at: string
  readonly channels: readonly string[]
}

function rasterOf(value: unknown, index: number, { stac, base, at, channels }: ItemContext): StacRaster {
  const { asset, assets, maskAsset, maskValues = null, maskBits = null } = stac
  const { item, chosen } = choose(() => {
    const read = readStacItem(value, index)
    const mask = maskAsset === undefined ? null : { asset: maskAsset, values: maskValues, bits: maskBits }
    const wanted = assets ?? (asset === undefined ? null : [asset])
    return { item: read, chosen: chooseBands(read, { assets: wanted, channels, mask, isCompared: true }) }
  }, at)
  // Files of an item from the request or a URL are relative to its `self` link, others to the file it was read from.
  const isPlaced = base !== null && base.kind !== 'url'
  const place =
    !isPlaced && item.self !== null && URL.canParse(item.self) ? ({ kind: 'url', url: item.self } as const) : base
  const fileFor = (href: string): Pick<SceneAsset, 'geotiffPath' | 'storagePath'> => {
    const file = fileNear(href, place, 'address')
    if (file === null) {
      throw stacUnusable({
        why: `item ${item.id} has the address ${href.slice(0, 200)}, which is not an https URL`,
        at,
      })
    }
    if (file.kind === 'storage') return { storagePath: { bucket: file.bucket, path: file.path } }
    return { geotiffPath: file.kind === 'url' ? file.url : file.path }
  }
  const datetime = instantOf(item.datetime)
  if (datetime === null && item.datetime !== null) {
    throw stacUnusable({
      why: `item ${item.id} has the time ${item.datetime.slice(0, 60)}, which is not a valid time of RFC 3339`,
      at,
    })
  }
  const names = [
    ...new Set(chosen.bands.map((band) => (isPart(chosen, band) ? `${band.asset}#${band.band! + 1}` : band.asset))),
  ]
  return {
    name: `${item.id}/${names.join('+')}`.slice(0, 500),
    own: {
      ...rasterFields(chosen, fileFor),
      ...(datetime !== null && { datetime }),
      ...(chosen.profile !== null && { profile: chosen.profile }),
    },
    facts: factsOf(item, names),
  }
}

/** Errors about the choice of bands name the field of the request. */
function choose<T>(work: () => T, at: string): T {
  try {
    return work()
  } catch (error) {
    if (!(error instanceof TerraneError) || error.code !== 'SCENE_UNUSABLE') throw error
    throw stacUnusable({ why: error.message.replace(/^[^:]*: /, '').replace(/\.$/, ''), at })
  }
}

/** Whether only some bands of an asset were chosen. */
function isPart({ bands }: ChosenBands, { asset, band, of }: ChosenBand): boolean {
  return band !== null && of > 1 && bands.filter((other) => other.asset === asset).length < of
}

/** A single file that is used whole is read directly; anything else is a scene. */
function rasterFields(
  chosen: ChosenBands,
  fileFor: (href: string) => Pick<SceneAsset, 'geotiffPath' | 'storagePath'>,
): Partial<CreateGeoEmbeddings> {
  const { bands, mask } = chosen
  const [first] = bands
  const isWhole = bands.every(
    (band, i) => band.asset === first?.asset && !isPart(chosen, band) && (band.band ?? i) === i,
  )
  const isBare = bands.every(({ scale, offset, nodata }) => scale === null && !offset && nodata === null)
  if (first && isWhole && isBare && mask === null && isNamed(chosen, first)) return fileFor(first.href)
  return {
    assets: bands.map(({ href, band, name, scale, offset, nodata }) => ({
      ...fileFor(href),
      ...(band !== null && { band: band + 1 }),
      ...(name !== null && { name }),
      ...(scale !== null && { scale }),
      ...(offset !== null && { offset }),
      // NaN counts as nodata without being named.
      ...(nodata !== null && Number.isFinite(nodata) && { nodata }),
    })),
    ...(mask && {
      mask: { ...fileFor(mask.href), band: mask.band + 1, maskValues: [...mask.values], maskBits: [...mask.bits] },
    }),
  }
}

/** Whether the file name alone gives the band's name in the item; a file of many bands is read directly. */
function isNamed({ profile }: ChosenBands, { name, of, href }: ChosenBand): boolean {
  const parts = href.split(/[?#]/)[0]!.split('/').at(-1)!.toLowerCase().split(/[._]/)
  return of > 1 || name === null || (profile !== null && parts.includes(name.toLowerCase()))
}

const KEPT = [
  'platform',
  'constellation',
  'instruments',
  'gsd',
  'eo:cloud_cover',
  'proj:epsg',
  'proj:code',
  'sat:orbit_state',
  'created',
]
/** Characters of a property, an id or a name that are kept. */
const MAX_FACT = 200

function factsOf({ id, collection, properties }: StacItem, assets: readonly string[]): SourceFacts {
  const kept = KEPT.flatMap((name) => {
    const value = properties[name]
    const isPlain = typeof value === 'number' || typeof value === 'string' || Array.isArray(value)
    return isPlain && JSON.stringify(value).length <= MAX_FACT ? [[name, value] as const] : []
  })
  return {
    id: cut(id),
    ...(collection !== null && { collection: cut(collection) }),
    assets: assets.map(cut),
    ...Object.fromEntries(kept),
  }
}

function cut(text: string): string {
  return text.slice(0, MAX_FACT)
}
