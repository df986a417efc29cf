import { notImagery, profileMismatch, unknownProfile } from '../errors.ts'
import type { RasterInfo } from '../raster-info.ts'
import type { OtherBand } from './product-bands.ts'
import { otherBandOf, productOf, productText } from './product-bands.ts'
import type { SensorProfile } from './sensor-profiles.ts'
import { SENSOR_PROFILES } from './sensor-profiles.ts'

/** A profile, and the source that named it. */
export interface FoundProfile {
  readonly profile: SensorProfile
  readonly by: 'request' | 'file'
}

/** Value that disables profiles. */
const NONE = 'none'

/** @throws UNKNOWN_PROFILE */
export function checkProfile(id: string): void {
  if (id !== NONE && byId(id) === null) {
    throw unknownProfile({ profile: id, known: [...SENSOR_PROFILES.map((profile) => profile.id), NONE] })
  }
}

/**
 * The sensor profile of a raster: the requested one, else the one that the product name in the file name or metadata
 * identifies without doubt. Band names alone do not identify it: Sentinel-2, HLS and Landsat share them and differ in
 * scale.
 *
 * @param fileName the last part of a path or URL
 * @throws UNKNOWN_PROFILE, PROFILE_MISMATCH when band or samples cannot be that product's
 */
export function findProfile(raster: RasterInfo, fileName: string, requested: string | null): FoundProfile | null {
  const other = raster.bands.length === 1 ? otherBand(raster, fileName) : null
  if (requested !== null) {
    checkProfile(requested)
    const profile = byId(requested)
    if (profile === null) return null
    const why = whyOther(profile, other) ?? whyNot(profile, raster)
    if (why !== null) throw profileMismatch({ profile: profile.id, why })
    return { profile, by: 'request' }
  }
  const stated = idOf(productText(raster, fileName), raster.tags) ?? NONE
  const profile = byId(other?.kind === 'measure' ? other.profile : stated)
  return profile !== null && whyNot(profile, raster) === null ? { profile, by: 'file' } : null
}

/**
 * Refuses bands without imagery, and bands of another profile: by the file name of a single band, else by descriptions.
 *
 * @throws NOT_IMAGERY, PROFILE_MISMATCH
 */
export function checkBands(
  raster: RasterInfo,
  fileName: string,
  found: FoundProfile | null,
  bands: readonly number[],
): void {
  const product = productOf(productText(raster, fileName))
  if (product === null) return
  const alone = raster.bands.length === 1 ? otherBand(raster, fileName) : null
  for (const index of bands) {
    const name = raster.bands[index]?.name ?? null
    const other = alone ?? (name === null ? null : otherBandOf(product, name))
    if (other?.kind === 'auxiliary') throw notImagery({ band: other.band })
    const why = found === null ? null : whyOther(found.profile, other)
    if (why !== null) throw profileMismatch({ profile: found!.profile.id, why })
  }
}

/** The band of a single-band file when it is not a reflectance. */
function otherBand(raster: RasterInfo, fileName: string): OtherBand | null {
  const product = productOf(productText(raster, fileName))
  if (product === null) return null
  const described = raster.bands[0]?.name ?? null
  return otherBandOf(product, fileName) ?? (described === null ? null : otherBandOf(product, described))
}

function whyOther({ id }: SensorProfile, other: OtherBand | null): string | null {
  if (other === null || (other.kind === 'measure' && other.profile === id)) return null
  return other.kind === 'measure'
    ? `the band is ${other.band}, which "${other.profile}" reads`
    : `the band is ${other.band}, which holds no picture`
}

function byId(id: string): SensorProfile | null {
  return SENSOR_PROFILES.find((profile) => profile.id === id) ?? null
}

function idOf(text: string, tags: RasterInfo['tags']): string | null {
  const sentinel2 = /(?:_MSI|\bS2MSI)(L1C|L2A|1C|2A)\b|_MSI(L1C|L2A)_/.exec(text)
  if (sentinel2 !== null) {
    const level = (sentinel2[1] ?? sentinel2[2] ?? '').slice(-2).toLowerCase()
    const baseline = Number(/_N(\d{4})_/.exec(text)?.[1] ?? Number(tags['PROCESSING_BASELINE']) * 100)
    // The offset depends on the baseline only; the date does not decide, because archives are reprocessed.
    return Number.isNaN(baseline) ? null : `sentinel-2-l${level}${baseline >= 400 ? '-offset' : ''}`
  }
  const hls = /\bHLS\.([SL]30)\./.exec(text)
  if (hls !== null) return `hls-${(hls[1] as string).toLowerCase()}`
  if (/\bL[CO]0[89]_L2S[PR]_/.test(text)) return 'landsat-8-9-c2-l2'
  if (/\bL[TE]0[457]_L2S[PR]_/.test(text)) return 'landsat-4-7-c2-l2'
  if (/_AnalyticMS(?:_8b)?_SR/i.test(text)) return 'planetscope-sr'
  return /(?:^|\n)m_\d{7}_[ns][ew]_\d{2}_/.test(text) ? 'naip' : null
}

/** Reflectance of sensors is stored in 16 bits; floating point values are already scaled. */
function whyNot({ unit, scale }: SensorProfile, { sampleType, palette }: RasterInfo): string | null {
  const wanted = unit === 'byte' ? ['uint8'] : scale === 1 ? ['float32', 'float64'] : ['uint16', 'int16']
  if (palette !== null) return 'the raster has a palette'
  return wanted.includes(sampleType)
    ? null
    : `its samples are ${wanted.join(' or ')}, those of the raster ${sampleType}`
}
