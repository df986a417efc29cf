import { bandCount, bandOutOfRange } from '../errors.ts'
import type { RasterInfo } from '../raster-info.ts'
import { bandKey, findBand } from './apply-profile.ts'
import type { SensorProfile } from './sensor-profiles.ts'
import { SENSOR_PROFILES } from './sensor-profiles.ts'

/** Selection of a raster's bands for a model. */
export interface BandSelection {
  /** One band index per channel. */
  readonly bands: readonly number[]
  /** Common name of each channel; null when one is not known. */
  readonly channels: readonly string[] | null
  /** Whether bands were chosen by order although the raster has more bands or other names than the model. */
  readonly guessed: boolean
}

export interface BandRequest {
  /** 0-based indices; null to choose by name. */
  readonly indices: readonly number[] | null
  /** The model's names of its channels; at least one. */
  readonly names: readonly string[]
  /** Indices to use instead of the first bands when no name fits. */
  readonly otherwise: readonly number[] | null
}

/**
 * One band per channel: the requested ones; else bands with the model's names of channels, which may be colours, common
 * names or names of the sensor; otherwise the first bands. Alpha is never chosen. A single band serves all channels.
 *
 * @throws BAND_OUT_OF_RANGE, BAND_COUNT
 */
export function selectBands(raster: RasterInfo, profile: SensorProfile | null, request: BandRequest): BandSelection {
  const { indices, names } = request
  const channels = names.length
  const count = raster.bands.length
  const commons = commonNames(raster, profile)
  const opaque = raster.bands.filter(({ color }) => color !== 'alpha').map(({ index }) => index)
  const byName = indices === null && opaque.length > 1 ? matchNames(raster, commons, names) : null
  const given = indices ?? byName ?? request.otherwise
  const chosen = given ?? (opaque.length < channels ? opaque : opaque.slice(0, channels))
  chosen.forEach((band, position) => {
    if (!Number.isInteger(band) || band < 0 || band >= count) throw bandOutOfRange({ band, position, bands: count })
  })
  if (chosen.length !== 1 && chosen.length !== channels) throw bandCount({ bands: chosen.length, channels })
  const bands = chosen.length === 1 ? names.map(() => chosen[0] as number) : [...chosen]
  const known = bands.map((band) => commons[band] ?? null)
  return {
    bands,
    channels: known.every((name) => name !== null) ? known : null,
    guessed: given === null && (opaque.length > channels || (chosen.length > 1 && known.some((name) => name !== null))),
  }
}

function matchNames(
  { bands }: RasterInfo,
  commons: readonly (string | null)[],
  names: readonly string[],
): number[] | null {
  const found = names.map((name) => {
    const wanted = name.toLowerCase()
    const common = [wanted, ...(NEARLY.get(wanted) ?? [])].map((n) => commons.indexOf(n)).find((i) => i !== -1) ?? -1
    if (common !== -1) return common
    const literal = bands.findIndex((band) => band.name?.toLowerCase() === wanted)
    // Many files write `B2` for the agency's `B02`.
    return literal === -1
      ? bands.findIndex((band) => band.name !== null && bandKey(band.name) === bandKey(name))
      : literal
  })
  return found.every((index) => index !== -1) ? found : null
}

/** Meaning of each band: by its profile, its description in words, or its declared colour. */
function commonNames(raster: RasterInfo, profile: SensorProfile | null): (string | null)[] {
  // `B04` with its zero, and `B8A`, are names of Sentinel-2 and HLS; their bands 2 to 4 have the same meaning in
  // Landsat 8.
  const sentinel = raster.bands.some(({ name }) => name !== null && /^B(0\d|8A)\b/i.test(name))
  return raster.bands.map(({ name, color }) => {
    const described = name === null ? null : commonOf(name, profile ?? (sentinel ? VISIBLE : WORDS))
    return described ?? (color === 'red' || color === 'green' || color === 'blue' ? color : null)
  })
}

function commonOf(name: string, profile: Pick<SensorProfile, 'bands'>): string | null {
  return (findBand(profile, name) ?? findBand(WORDS, name))?.common ?? null
}

/** Substitutes, because sensors have one near infrared band or two. */
const NEARLY: ReadonlyMap<string, readonly string[]> = new Map([
  ['nir', ['nir08']],
  ['nir08', ['nir']],
])
const COLORS = ['coastal', 'blue', 'green', 'yellow', 'red', 'rededge', 'nir', 'swir16', 'swir22', 'vv', 'vh']
const WORDS = { bands: COLORS.map((common) => ({ name: common, common, wavelength: null })) }
/** The bands on which Sentinel-2 and both kinds of HLS agree. */
const VISIBLE = {
  bands: (SENSOR_PROFILES.find(({ id }) => id === 'sentinel-2-l2a') as SensorProfile).bands.filter(({ common }) =>
    ['coastal', 'blue', 'green', 'red'].includes(common),
  ),
}
