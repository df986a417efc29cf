import { coordinatesOf } from './describe.ts'
import { zarrUnusable } from './errors.ts'
import type { ZarrGrid, ZarrRaster } from './find.ts'

/** Milliseconds of the units of times, as CF names them. */
const UNITS: Readonly<Record<string, number>> = {
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1000,
}
/** Numbers without a unit that are years. */
const YEARS = [1900, 2200] as const

/**
 * Chooses the only position of a year in an array of several dates. Coordinates are years, or times as CF has them.
 *
 * @param datetime in the year that is read
 * @throws ZARR_UNUSABLE when the year is not there once
 */
export async function atYear(folder: string, zarr: ZarrRaster, datetime: string | null): Promise<ZarrRaster> {
  const { vectors, scales, time } = zarr
  if (vectors.moment === null) return zarr
  const years = time === null ? null : yearsOf(await coordinatesOf(folder, time), time.attributes['units'])
  if (years === null) throw zarrUnusable({ why: 'its dates have no coordinates that are years or times' })
  const year = datetime === null ? null : new Date(datetime).getUTCFullYear()
  const index = years.indexOf(year ?? Number.NaN)
  if (index === -1 || years.lastIndexOf(year!) !== index) {
    const named = year === null ? 'datetime names none of them' : `${year} is not there once`
    throw zarrUnusable({ why: `its dates are of the years ${years.slice(0, 20).join(', ')}, and ${named}` })
  }
  return { ...zarr, vectors: moved(vectors, index), scales: scales && moved(scales, index) }
}

function moved(grid: ZarrGrid, index: number): ZarrGrid {
  return { ...grid, moment: grid.moment && { ...grid.moment, index } }
}

function yearsOf(values: Float64Array | null, units: unknown): number[] | null {
  if (values === null) return null
  const [, unit, since] = /^(days|hours|minutes|seconds) since (.+)$/.exec(typeof units === 'string' ? units : '') ?? []
  if (unit === undefined || since === undefined) {
    return values.every((year) => year >= YEARS[0] && year <= YEARS[1]) ? [...values] : null
  }
  // A date without a zone is UTC.
  const [, day, clock = '00:00:00'] =
    /^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ]([0-9]{2}:[0-9]{2}:[0-9]{2}))?/.exec(since) ?? []
  const start = Date.parse(`${day}T${clock}Z`)
  const years = [...values].map((value) => new Date(start + value * UNITS[unit]!).getUTCFullYear())
  return years.every(Number.isFinite) ? years : null
}
