import { notImagery, sceneUnusable } from '../errors.ts'
import { bandKey, findBand } from '../profile/apply-profile.ts'
import { isAuxiliary } from '../profile/product-bands.ts'
import type { SensorProfile } from '../profile/sensor-profiles.ts'
import { fileNameOf, isOffsetApplied, profileBand, profileOfBands, profilesOfItem } from './item-profile.ts'
import type { SceneMask } from './scene.ts'
import type { StacBand, StacItem } from './stac-item.ts'

/** Requested bands of an item. */
export interface BandChoice {
  /** Names of assets or bands, common names, roles or numbers; null for the model's bands. */
  readonly assets: readonly string[] | null
  /** The model's names of its channels. */
  readonly channels: readonly string[]
  readonly mask: MaskChoice | null
  /** Whether the numbers of bands are compared: pictures for viewing are refused beside measurements. */
  readonly isCompared?: boolean
}

/** Selection of masked pixels. */
export interface MaskChoice {
  /** Asset, in one of the forms of `assets`. */
  readonly asset: string
  /** Classes; null for the product's flags of clouds, shadows and no data. */
  readonly values: readonly number[] | null
  readonly bits: readonly number[] | null
}

/** A band that was chosen. */
export interface ChosenBand extends Pick<StacBand, 'asset' | 'href' | 'band' | 'scale' | 'offset' | 'nodata' | 'of'> {
  readonly name: string | null
}

/** Bands of an item, and their facts. */
export interface ChosenBands {
  readonly bands: readonly ChosenBand[]
  /** Id of the sensor profile that reads all of them; null when unknown. */
  readonly profile: string | null
  readonly mask: {
    readonly href: string
    readonly band: number
    readonly values: readonly number[]
    readonly bits: readonly number[]
  } | null
}

/**
 * The bands of an item: the named ones, else its only GeoTIFF, else the model's channels by name.
 *
 * @throws SCENE_UNUSABLE, which names the item and its assets
 */
export function chooseBands(item: StacItem, { assets, channels, mask, isCompared }: BandChoice): ChosenBands {
  const { profiles, isCertain } = profilesOfItem(item)
  const named = assets?.flatMap((name) => {
    const found = find(item, name, profiles)
    if (found.length > 0) return found
    throw sceneUnusable({ why: `item ${item.id} has no asset or band of the name or role ${name}; ${has(item)}` })
  })
  const unique = [...new Set(named ?? byDefault(item, channels, profiles))]
  const picture = unique.find((band) => !isData(band))
  if (isCompared === true && picture !== undefined && unique.some(isData)) {
    throw sceneUnusable({ why: `${picture.asset} is a picture for viewing, other assets are measurements` })
  }
  const profile = profileOfBands(profiles, unique)
  checkImagery(unique, profiles, profile)
  const isRead = isCertain && unique.every(isData)
  return {
    bands: unique.map((band) =>
      chosen(band, profile, { isCertain: isRead, isApplied: isOffsetApplied(item.properties) }),
    ),
    profile: isRead ? (profile?.id ?? null) : null,
    mask: mask && chooseMask(item, mask),
  }
}

function byDefault(
  item: StacItem,
  channels: readonly string[],
  profiles: readonly SensorProfile[],
): readonly StacBand[] {
  const data = item.bands.filter(isData)
  const files = [...new Set(data.map(({ asset }) => asset))]
  if (files.length === 1) return data
  const found = channels.map((name) => find({ ...item, bands: data }, name, profiles))
  if (found.length > 0 && found.every(({ length }) => length === 1)) return found.flat()
  const why = files.length === 0 ? 'no asset that is a GeoTIFF' : `${files.length} GeoTIFFs (send stac.assets)`
  throw sceneUnusable({ why: `item ${item.id} has ${why}; ${has(item)}` })
}

/** @throws NOT_IMAGERY for flags and angles, SCENE_UNUSABLE for bands of different units, or of none */
function checkImagery(bands: readonly StacBand[], profiles: readonly SensorProfile[], of: SensorProfile | null): void {
  const constant = bands.find(({ scale }) => scale === 0)
  if (constant !== undefined) throw sceneUnusable({ why: `asset ${constant.asset} states a scale of 0` })
  const partial = bands.find(({ stated }) => stated !== null)
  if (partial !== undefined) {
    const { asset, stated, of: all } = partial
    throw sceneUnusable({ why: `asset ${asset} states values of ${stated} of its ${all} bands in raster:bands` })
  }
  if (of !== null) return
  for (const { asset, names } of bands) {
    const isFlags = (name: string): boolean => profiles.some(({ id }) => isAuxiliary(id, name))
    if ([asset, ...names].some(isFlags)) throw notImagery({ band: asset })
  }
  const isRead = (band: StacBand): boolean => profiles.some((profile) => profileBand(profile, band) !== null)
  if (bands.length > 0 && profiles.length > 1 && bands.every(isRead)) {
    throw sceneUnusable({ why: `${bands.map(({ asset }) => asset).join(', ')} are measured in different units` })
  }
}

/** Pictures for viewing have the bands of the product but other numbers. */
function isData({ roles, asset }: StacBand): boolean {
  const isPicture = /^(?:visual|tci|true_?colou?r|preview|rendered_preview)/i.test(asset)
  return !isPicture && !roles.some((role) => ['thumbnail', 'overview', 'visual'].includes(role))
}

/** In order of certainty: asset, band, common name, name by the agency, role, number. */
function find(item: StacItem, wanted: string, profiles: readonly SensorProfile[]): readonly StacBand[] {
  const { bands } = item
  const text = wanted.trim().toLowerCase()
  const asset = bands.filter((band) => band.asset === wanted)
  if (asset.length > 0) return asset
  const sameAsset = bands.filter((band) => band.asset.toLowerCase() === text)
  if (sameAsset.length > 0) return sameAsset
  const agencyOf = (name: string): readonly string[] =>
    profiles.flatMap((profile) => findBand(profile, name)?.name ?? [])
  const isAgency = (band: StacBand, agency: readonly string[]): boolean =>
    profiles.some((profile) => agency.includes(profileBand(profile, band) ?? ''))
  const near = NEARLY.get(text) ?? null
  const rules: ((band: StacBand) => boolean)[] = [
    ({ names }) => names.some((name) => name.toLowerCase() === text),
    ({ common }) => common?.toLowerCase() === text,
    ({ names }) => names.some((name) => bandKey(name) === bandKey(text)),
    (band) => isAgency(band, agencyOf(text)),
    (band) => near !== null && (band.common === near || isAgency(band, agencyOf(near))),
  ]
  for (const rule of rules) {
    const best = bestOf(bands.filter(rule))
    if (best.length > 1) {
      const why = `item ${item.id} has several bands of the name ${wanted} (name one): ${best.map(labelOf).join(', ')}`
      throw sceneUnusable({ why })
    }
    if (best.length === 1) return best
  }
  const role = bands.filter((band) => band.roles.includes(wanted) && (isData(band) || wanted !== 'data'))
  // Opacities and similar layers have the role of data, too.
  const read = role.filter((band) => profiles.some((profile) => profileBand(profile, band) !== null))
  if (role.length > 0) return read.length > 0 ? read : role
  return /^\d{1,5}$/.test(text) ? byNumber(item, Number(text), profiles) : []
}

/** Band `4` is `B04`, else the fourth of an item's only GeoTIFF. */
function byNumber(item: StacItem, number: number, profiles: readonly SensorProfile[]): readonly StacBand[] {
  const named = find(item, `b${number}`, profiles)
  if (named.length > 0) return named
  const data = item.bands.filter(isData)
  const isOne = new Set(data.map(({ asset }) => asset)).size === 1
  return isOne ? data.filter(({ band }) => band === number - 1) : []
}

/** Substitutes, because sensors have one near infrared band or two. */
const NEARLY: ReadonlyMap<string, string> = new Map([
  ['nir', 'nir08'],
  ['nir08', 'nir'],
])

/**
 * Prefers files of a single band to a visual picture or a file of many bands, and of the files of a band (`B04_10m`,
 * `B04_20m`) the one with the smallest pixels. More than one where bands of several names remain.
 */
function bestOf(bands: readonly StacBand[]): readonly StacBand[] {
  const data = bands.filter(isData)
  const single = data.filter(({ of }) => of <= 1)
  const good = single.length > 0 ? single : data.length > 0 ? data : bands
  // Bands of several wavelengths may have one common name.
  const byName = Map.groupBy(good, ({ names, asset }) => names[0] ?? asset)
  return [...byName.values()].map((same) => same.reduce((best, band) => (isFiner(band, best) ? band : best)))
}

/** A band in an error: its asset, with its name or number where the asset has several. */
function labelOf({ names, of, asset, band }: StacBand): string {
  return of > 1 ? `${names[0] ?? `band ${band! + 1}`} of ${asset}` : asset
}

function isFiner({ pixel }: StacBand, other: StacBand): boolean {
  return pixel !== null && other.pixel !== null && pixel < other.pixel
}

/** A certain profile completes a band that states only one of scale and offset. */
function chosen(
  band: StacBand,
  profile: SensorProfile | null,
  { isCertain, isApplied }: { readonly isCertain: boolean; readonly isApplied: boolean },
): ChosenBand {
  const { asset, href, nodata, names, common, of } = band
  const states = isCertain && (band.scale !== null || band.offset !== null)
  const scale = band.scale ?? (states ? (profile?.scale ?? null) : null)
  const offset = isApplied ? 0 : (band.offset ?? (states ? (profile?.offset ?? null) : null))
  const agency = profile === null ? null : profileBand(profile, band)
  return {
    asset,
    href,
    band: band.band,
    // The common name is more useful than a producer's name that is in no profile.
    name: agency ?? common ?? names[0] ?? null,
    scale,
    offset,
    of,
    nodata,
  }
}

/** Classes and flags of products for no data, clouds, cloud shadows and saturation. */
const KNOWN_MASKS: readonly {
  readonly names: RegExp
  /** The product, where others have the same name for other numbers. */
  readonly product?: RegExp
  readonly values: readonly number[]
  readonly bits: readonly number[]
}[] = [
  // ESA's Sentinel-2 L2A scene classification: no data, saturated, shadow, clouds of medium and high probability, cirrus.
  { names: /^scl(?:[-_]?(?:20|60)m)?$/i, values: [0, 1, 3, 8, 9, 10], bits: [] },
  // USGS Landsat Collection 2: fill, dilated cloud, cirrus, cloud, cloud shadow.
  { names: /^qa_?pixel$/i, values: [], bits: [0, 1, 2, 3, 4] },
  // LP DAAC HLS v2: cloud, beside a cloud, cloud shadow; 255 is fill.
  { names: /^fmask$/i, product: /\bHLS/i, values: [255], bits: [1, 2, 3] },
  // Digital Earth Australia's analysis-ready Landsat and Sentinel-2: null, cloud, shadow.
  { names: /^(?:oa_)?fmask$/i, product: /\bga_(?:ls|s2)/i, values: [0, 2, 3], bits: [] },
]

/**
 * Values that a product's mask leaves out, by the name of its file or asset; null for an unknown name.
 *
 * @param product names of the product, such as the id of its item
 */
export function knownMask(name: string, product = name): Pick<SceneMask, 'values' | 'bits'> | null {
  const parts = [name, ...name.split(/[._]/), ...name.split('.').map((part) => part.split('_').slice(-2).join('_'))]
  const isOf = (mask: (typeof KNOWN_MASKS)[number]): boolean => mask.product?.test(product) ?? true
  return KNOWN_MASKS.find((mask) => isOf(mask) && parts.some((part) => mask.names.test(part))) ?? null
}

function chooseMask(item: StacItem, { asset, values, bits }: MaskChoice): NonNullable<ChosenBands['mask']> {
  const [band] = find(item, asset, [])
  if (band === undefined)
    throw sceneUnusable({ why: `item ${item.id} has no asset ${asset} for the mask; ${has(item)}` })
  const product = [item.id, item.collection ?? '', fileNameOf(band)].join(' ')
  const known = [band.asset, ...band.names].map((name) => knownMask(name, product)).find((one) => one !== null)
  const isStated = (values?.length ?? 0) + (bits?.length ?? 0) > 0
  if (!isStated && !known) {
    throw sceneUnusable({
      why: `the values of ${asset} that mark invalid pixels are not known (send maskValues or maskBits)`,
    })
  }
  return {
    href: band.href,
    band: band.band ?? 0,
    values: isStated ? (values ?? []) : (known?.values ?? []),
    bits: isStated ? (bits ?? []) : (known?.bits ?? []),
  }
}

function has({ assets, bands }: StacItem): string {
  const images = new Set(bands.map(({ asset }) => asset))
  const listed = assets.slice(0, 40).map((name) => `${name.slice(0, 100)}${images.has(name) ? '' : ' (no GeoTIFF)'}`)
  return `it has ${listed.join(', ') || 'none'}${assets.length > 40 ? ', …' : ''}`
}
