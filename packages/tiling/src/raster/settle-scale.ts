import { profileMismatch, unitUnknown } from './errors.ts'
import type { InspectedRaster } from './inspect.ts'
import { profileRange } from './profile/sensor-profiles.ts'
import type { Ranges, Scale } from './scale.ts'
import { estimateScale, sampleBands } from './scale.ts'
import type { ByteSource } from './source.ts'

/** Unit of a model's input: scaled to [0, 1], physical, or stored values. */
export type ModelUnit = 'scaled' | 'reflectance' | 'decibel' | 'stored'

export interface ScaleRequest {
  /** Ranges of the request. */
  readonly explicit: Ranges | null
  /** Ranges of the table whose stretch is reused, one per channel. */
  readonly taken: Ranges | null
  /** Whether the table's ranges are in decibels. */
  readonly decibels?: boolean
  readonly unit: ModelUnit
}

/**
 * Headroom as a share of the range between the percentiles. The bright end gets more, because brightness changes by
 * factors.
 */
const HEADROOM_BELOW = 0.075
const HEADROOM_ABOVE = 0.3
/** Maximum share of values below zero; a higher share shows that the offset was subtracted twice. */
const MAX_NEGATIVE = 0.02

/**
 * The stretch of a raster: as requested; as in another table; in the unit of the model; by the sensor's profile; else
 * by the samples alone ({@link estimateScale}), percentiles widened by some headroom.
 *
 * @throws INVALID_SCALE, SCALE_COUNT, UNIT_UNKNOWN, PROFILE_MISMATCH, NO_VALID_PIXELS, CORRUPT_TILE
 */
export async function settleScale(
  source: ByteSource,
  inspected: InspectedRaster,
  request: ScaleRequest,
): Promise<Scale> {
  await checkOffset(source, inspected)
  const { raster, bands, profile, channels } = inspected
  const decibels = profile?.profile.unit === 'decibel' || request.decibels === true ? ({ decibels: true } as const) : {}
  const taken = request.explicit === null ? request.taken : null
  if (request.explicit !== null || taken !== null) {
    const scale = await estimateScale(source, raster, bands, request.explicit ?? taken)
    return { ...scale, ...(taken && { origin: 'table' as const }), ...decibels, ...unclamped(request.unit) }
  }
  if (request.unit !== 'scaled') return { ...asTheModelTakes(inspected, request.unit), ...decibels }
  if (profile !== null) {
    const ranges = bands.map((_, i) => profileRange(profile.profile, channels?.[i] ?? null))
    const [min, max] = [ranges.map((range) => range[0]), ranges.map((range) => range[1])]
    return { origin: 'profile', min, max, ...decibels }
  }
  return withHeadroom(await estimateScale(source, raster, bands))
}

/**
 * Widens percentiles, so that a brighter or darker image of another date is not clipped with this stretch: clipping
 * would differ between tiles and look like change.
 */
function withHeadroom(scale: Scale): Scale {
  if (scale.origin !== 'percentile') return scale
  const range = (i: number): number => scale.max[i]! - scale.min[i]!
  return {
    ...scale,
    min: scale.min.map((low, i) => low - HEADROOM_BELOW * range(i)),
    max: scale.max.map((high, i) => high + HEADROOM_ABOVE * range(i)),
  }
}

function unclamped(unit: ModelUnit): Pick<Scale, 'unclamped'> {
  return unit === 'scaled' ? {} : { unclamped: true }
}

/** The range 0 to 1 of the unit, which leaves values unchanged; the model's own mean and deviation normalise them. */
function asTheModelTakes({ raster, bands, profile }: InspectedRaster, unit: Exclude<ModelUnit, 'scaled'>): Scale {
  if (unit === 'stored') {
    const infos = bands.map((band) => raster.bands[band])
    const min = infos.map((info) => info?.offset ?? 0)
    return { origin: 'model', min, max: infos.map((info, i) => min[i]! + (info?.scale ?? 1)), unclamped: true }
  }
  if (profile?.profile.unit !== unit) throw unitUnknown({ unit })
  return { origin: 'model', min: bands.map(() => 0), max: bands.map(() => 1), unclamped: true }
}

/**
 * Refuses a Sentinel-2 profile whose offset the archive has already subtracted, because reflectances would fall below
 * zero. Some archives subtract it and some do not, and their metadata are unreliable.
 */
async function checkOffset(source: ByteSource, { raster, bands, profile }: InspectedRaster): Promise<void> {
  if (profile?.by !== 'file' || profile.profile.unit !== 'reflectance') return
  if (bands.every((band) => (raster.bands[band]?.offset ?? 0) >= 0)) return
  const sample = await sampleBands(source, raster, [...new Set(bands)])
  for (const [band, values] of sample) {
    const negative = values.reduce((count, value) => count + (value < 0 ? 1 : 0), 0)
    if (negative <= MAX_NEGATIVE * values.length) continue
    const { id } = profile.profile
    const other = id.replace('-offset', '')
    const share = Math.round((100 * negative) / values.length)
    const why = `by it ${share} % of band ${band} have a reflectance below zero; if the offset was subtracted already, it is "${other === id ? 'reflectance" or "none' : other}"`
    throw profileMismatch({ profile: id, why })
  }
}
