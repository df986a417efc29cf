import type { BandInfo, RasterInfo } from '../raster-info.ts'
import type { ProfileBand, SensorProfile } from './sensor-profiles.ts'

/**
 * The raster with the facts of its profile: band names of the sensor, its scale and offset for bands without their own,
 * its nodata if the file states none. A fourth band in the profile is not alpha.
 */
export function applyProfile<R extends RasterInfo>(raster: R, profile: SensorProfile, fileName: string): R {
  const named = nameBands(raster.bands, profile, fileName)
  const { scale, offset } = profile
  const bands = raster.bands.map((band, i) => {
    const known = named[i] ?? null
    const isBare = band.scale === 1 && band.offset === 0
    const color = known !== null && band.color === 'alpha' ? ('undefined' as const) : band.color
    return { ...band, color, name: known?.name ?? band.name, ...(isBare && { scale, offset }) }
  })
  const alpha = raster.alphaBand === null ? null : bands[raster.alphaBand]?.color === 'alpha' ? raster.alphaBand : null
  return { ...raster, bands, alphaBand: alpha, nodata: raster.nodata ?? profile.nodata }
}

/** Names bands by description; without descriptions by the number of bands, or by the end of the file's name. */
function nameBands(
  bands: readonly BandInfo[],
  profile: SensorProfile,
  fileName: string,
): readonly (ProfileBand | null)[] {
  const described = bands.map(({ name }) => (name === null ? null : findBand(profile, name)))
  if (described.some((band) => band !== null)) return described
  if (bands.length === 1) return [byFileName(profile, fileName)]
  const layout = profile.layouts.find((names) => names.length === bands.length)
  return bands.map((_, i) => (layout === undefined ? null : findBand(profile, layout[i] as string)))
}

/** Whether the band of a single-band file is known in the profile; true for files of many bands. */
export function knowsBand({ bands }: RasterInfo, profile: SensorProfile, fileName: string): boolean {
  if (bands.length !== 1 || profile.bands.length === 0) return true
  return nameBands(bands, profile, fileName)[0] !== null
}

/** `…_B04.tif`, `….B04.tif` and `…_SR_B4.TIF` contain only that band. */
export function byFileName(profile: SensorProfile, fileName: string): ProfileBand | null {
  // The last part that names a band, as in `…_SR_B4_clip.tif` and `…_B04_10m.tif`.
  const parts = fileName.split(/[._]/).slice(0, -1).toReversed()
  const part = parts.find((name) => /^[a-z]+\d{1,2}a?$/i.test(name) && findBand(profile, name) !== null) ?? parts[0]
  return findBand(profile, part ?? '')
}

/** `B4`, `b04`, `SR_B4` and `B04, central wavelength 665 nm` are the same band. */
export function findBand({ bands }: Pick<SensorProfile, 'bands'>, description: string): ProfileBand | null {
  const wanted = bandKey(description)
  const found = bands.find(({ name, common }) => bandKey(name) === wanted || common === wanted)
  return found ?? null
}

/** Normalised name of a band, equal for its spellings. */
export function bandKey(name: string): string {
  const first = (name.trim().split(/[\s,;:(]/)[0] ?? '').toLowerCase()
  return first.replace(/^s[rt]_(?=b)/, '').replace(/^b0*(?=\d)/, 'b')
}
