import type { RasterCrs } from '../raster-info.ts'

/** Meters per unit of length, by EPSG code. */
export const UNIT_METERS: ReadonlyMap<number, number> = new Map([
  [9001, 1],
  [9002, 0.3048],
  [9003, 1200 / 3937],
  [9005, 0.3047972654],
  [9036, 1000],
])

const DEGREE = 9102
const CODES: ReadonlyMap<string, number> = new Map([
  ['m', 9001],
  ['ft', 9002],
  ['us-ft', 9003],
])

/** The EPSG code of the unit of a CRS's axes; null when its definition gives a length in meters. */
export function unitOf({ definition }: RasterCrs): number | null {
  if (definition.includes('+proj=longlat')) return DEGREE
  if (definition.includes('+to_meter')) return null
  return CODES.get(/\+units=(\S+)/.exec(definition)?.[1] ?? 'm') ?? null
}

/** A projected CRS with coordinates in another unit of length; null for an unknown unit or a CRS in degrees. */
export function inUnit(crs: RasterCrs, unit: number): RasterCrs | null {
  const meters = UNIT_METERS.get(unit)
  if (meters === undefined || unitOf(crs) === DEGREE) return null
  const definition = crs.definition.replace(/ \+(?:units|to_meter)=\S+/, '')
  return { ...crs, epsg: null, name: `${crs.name} in EPSG:${unit}`, definition: `${definition} +to_meter=${meters}` }
}

/** The unit that ERDAS Imagine writes only into a citation; null when there is none. */
export function unitInCitation(citations: readonly string[]): number | 'unknown' | null {
  for (const citation of citations) {
    const name = /^units = (.+)$/im.exec(citation)?.[1]?.trim().toLowerCase()
    if (name !== undefined && /imagine/i.test(citation)) return IMAGINE.get(name) ?? 'unknown'
  }
  return null
}

const IMAGINE: ReadonlyMap<string, number> = new Map([
  ['meters', 9001],
  ['international_feet', 9002],
  ['us_survey_feet', 9003],
])
