import { byFileName, findBand } from '../profile/apply-profile.ts'
import { SENSOR_PROFILES } from '../profile/sensor-profiles.ts'
import type { SensorProfile } from '../profile/sensor-profiles.ts'
import type { StacBand, StacItem } from './stac-item.ts'

/** The sensor profiles of an item's product. */
export interface ItemProfiles {
  /** Reflectance first, then those of other units; empty where the product is not known. Their bands are those of the product. */
  readonly profiles: readonly SensorProfile[]
  /** Whether their scale and offset are those of the files. */
  readonly isCertain: boolean
}

/**
 * The sensor profiles that may read bands of an item, by its product.
 *
 * Sources: the collections of Earth Search, Planetary Computer, LP DAAC and USGS; `s2:`, `landsat:` and `earthsearch:` fields.
 */
export function profilesOfItem(item: StacItem): ItemProfiles {
  const ids = idsOf(item)
  const isCertain = !ids.includes(UNCERTAIN)
  return { profiles: ids.flatMap((id) => SENSOR_PROFILES.find((profile) => profile.id === id) ?? []), isCertain }
}

/** Marks a list of ids as uncertain: scale and offset of the product are not stated. */
const UNCERTAIN = 'uncertain'
/** Date of baseline 04.00: earlier products have no offset. */
const OFFSET_SINCE = '2022-01-25'

/** The profile that has all of some bands; null without one. */
export function profileOfBands(profiles: readonly SensorProfile[], bands: readonly StacBand[]): SensorProfile | null {
  const hasAll = (profile: SensorProfile): boolean => bands.every((band) => profileBand(profile, band) !== null)
  return bands.length === 0 ? null : (profiles.find(hasAll) ?? null)
}

/** The name of a band in a profile, by any of its names, else by that of its file. */
export function profileBand(profile: SensorProfile, band: StacBand): string | null {
  const { names, common, of } = band
  const found = [...names, ...(common === null ? [] : [common])].map((name) => findBand(profile, name))
  const named = found.find((one) => one !== null) ?? (of > 1 ? null : byFileName(profile, fileNameOf(band)))
  return named?.name ?? null
}

/** The last part of an address, without its query. */
export function fileNameOf({ href }: Pick<StacBand, 'href'>): string {
  return href.split(/[?#]/)[0]!.split('/').at(-1)!
}

function idsOf(item: StacItem): string[] {
  const { id, collection, properties } = item
  const text = (name: string): string => (typeof properties[name] === 'string' ? properties[name] : '')
  const product = [id, collection ?? '', text('s2:product_uri'), text('landsat:scene_id')].join(' ')
  const maker = [collection ?? '', text('platform'), text('constellation'), text('mission')].join(' ').toLowerCase()
  const hls = /\bHLS[._]?([SL]30)(?![a-z0-9])/i.exec(product)
  if (hls !== null) return hls[1]?.toLowerCase() === 's30' ? ['hls-s30'] : ['hls-l30', 'hls-l30-thermal']
  if (/sentinel-?2/.test(maker) || /^S2[A-D]_/.test(id))
    return sentinel2(item, `${product} ${text('s2:product_type')} ${text('processing:level')}`)
  const landsat = /landsat[-_ ]?([4-9])\b/.exec(maker)?.[1] ?? /\bL[COTE]0([4-9])_L2/.exec(product)?.[1]
  if (landsat !== undefined) {
    const level = `${product} ${text('landsat:correction')} ${text('processing:level')}`
    if (!/(?:\bL2S[PR]\b|_L2S[PR]_|c2-?l2|\bL2\b)/i.test(level)) return []
    return [Number(landsat) >= 8 ? 'landsat-8-9-c2-l2' : 'landsat-4-7-c2-l2', 'landsat-c2-st']
  }
  if (/sentinel-?1/.test(maker)) return /rtc/.test(maker) ? ['sentinel-1-rtc'] : []
  if (/\bm(?:od|yd|cd)09|modis-09/i.test(product)) return ['modis-09']
  if (/naip/.test(maker) || /^[a-z]{2}_m_\d{7}_/.test(id)) return ['naip']
  if (/skysat/.test(maker)) return ['skysat-sr']
  return /planetscope|psscene/.test(maker) ? ['planetscope-sr'] : []
}

/**
 * Baseline 04.00 stores values with an offset. Where Earth Search says that it has subtracted the offset, the offset in
 * `raster:bands` is ignored.
 */
function sentinel2({ properties, bands }: StacItem, text: string): string[] {
  const level = /(?:^|[^a-z])(?:msi)?l1c/i.test(text) ? 'l1c' : 'l2a'
  if (isOffsetApplied(properties)) return [`sentinel-2-${level}`]
  // Processing versions of other producers have another format than ESA's baseline.
  const stated = ['s2:processing_baseline', 'sentinel:processing_baseline', 'processing:version']
    .map((name) => properties[name])
    .find((value) => typeof value === 'string' && /^\d\d\.\d\d$/.test(value))
  const ofName = Number(/_N(\d{4})_/.exec(text)?.[1]) / 100
  const baseline = stated === undefined ? ofName : Number(stated)
  const isOffset = baseline >= 4
  // The name of the product and its stated baseline disagree.
  const isOther = !Number.isNaN(ofName) && ofName >= 4 !== isOffset
  if (!Number.isNaN(baseline))
    return [`sentinel-2-${level}${isOffset ? '-offset' : ''}`, ...(isOther ? [UNCERTAIN] : [])]
  const offset = bands.find((band) => band.offset !== null || band.scale !== null)
  if (offset !== undefined) return [`sentinel-2-${level}${offset.offset ? '-offset' : ''}`]
  const { created } = properties
  const isOld = typeof created === 'string' && created < OFFSET_SINCE
  return [`sentinel-2-${level}`, ...(isOld ? [] : [UNCERTAIN])]
}

/** Whether the offset has already been subtracted from the values of the files. */
export function isOffsetApplied(properties: StacItem['properties']): boolean {
  return ['earthsearch:boa_offset_applied', 'sentinel:boa_offset_applied'].some(
    (name) => properties[name] === true || properties[name] === 'true',
  )
}
