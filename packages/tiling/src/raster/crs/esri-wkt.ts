import type { GeoNumbers } from './geo-keys.ts'
import { KEY, USER_DEFINED } from './geo-keys.ts'

/*
 * ArcGIS and ERDAS write a CRS as a text into a citation ("ESRI PE String = PROJCS[…]"), and the keys beside it may be
 * incomplete. The text is converted to keys.
 */

const PREFIX = /ESRI PE String\s*=\s*/i

/** The keys in the text of a citation; null without such a text, or when its kind is unknown. */
export function keysOfWkt(citations: readonly string[]): GeoNumbers | null {
  for (const citation of citations) {
    const prefix = PREFIX.exec(citation)
    if (prefix === null) continue
    // Node and parameter names occur in either case; the vertical part at the end concerns heights only.
    const wkt = citation.slice(prefix.index + prefix[0].length).toLowerCase()
    const vertical = wkt.indexOf('vertcs[')
    return readKeys(vertical === -1 ? wkt : wkt.slice(0, vertical))
  }
  return null
}

function readKeys(wkt: string): GeoNumbers | null {
  const numbers: Record<number, number> = {}
  const geographic = GEOGRAPHIC.get(nameIn(wkt, 'geogcs') ?? '')
  if (geographic === undefined) return null
  numbers[KEY.geographicCrs] = geographic
  const angle = numberAfter(wkt, 'unit["degree",')
  if (angle === null || Math.abs(angle - Math.PI / 180) > 1e-9) return null
  const method = METHODS.get(nameIn(wkt, 'projection') ?? '')
  numbers[KEY.modelType] = wkt.startsWith('projcs') ? 1 : 2
  if (numbers[KEY.modelType] === 2) return numbers
  if (method === undefined) return null
  numbers[KEY.projectedCrs] = USER_DEFINED
  numbers[KEY.method] = method
  for (const [name, key] of PARAMETERS) {
    const value = numberAfter(wkt, `parameter["${name}",`)
    if (value !== null) numbers[key] = value
  }
  // The unit of length is the last one, after the parameters.
  const meters = numberAfter(wkt.slice(wkt.lastIndexOf('unit["')), ',')
  if (meters === null) return null
  if (meters !== 1) {
    numbers[KEY.linearUnits] = USER_DEFINED
    numbers[KEY.linearUnitSize] = meters
  }
  if (method === POLAR) moveToPole(numbers)
  return numbers
}

const POLAR = 15

function moveToPole(numbers: Record<number, number>): void {
  const { [KEY.naturalOriginLng]: lng, [KEY.standardParallel1]: at } = numbers
  if (lng !== undefined) numbers[KEY.straightVerticalPole] = lng
  if (at !== undefined) numbers[KEY.naturalOriginLat] = at
}

function nameIn(wkt: string, node: string): string | null {
  const start = wkt.indexOf(`${node}["`)
  if (start === -1) return null
  const from = start + node.length + 2
  return wkt.slice(from, wkt.indexOf('"', from))
}

function numberAfter(wkt: string, mark: string): number | null {
  const start = wkt.indexOf(mark)
  if (start === -1) return null
  const value = Number.parseFloat(wkt.slice(start + mark.length))
  return Number.isFinite(value) ? value : null
}

const GEOGRAPHIC: ReadonlyMap<string, number> = new Map([
  ['gcs_wgs_1984', 4326],
  ['gcs_north_american_1983', 4269],
  ['gcs_north_american_1983_harn', 4152],
  ['gcs_nad_1983_2011', 6318],
  ['gcs_north_american_1927', 4267],
  ['gcs_etrs_1989', 4258],
  ['gcs_gda_1994', 4283],
  ['gcs_gda2020', 7844],
  ['gcs_sirgas_2000', 4674],
  ['gcs_rgf_1993', 4171],
])

const METHODS: ReadonlyMap<string, number> = new Map([
  ['transverse_mercator', 1],
  ['mercator', 7],
  ['lambert_conformal_conic', 8],
  ['lambert_azimuthal_equal_area', 10],
  ['albers', 11],
  ['azimuthal_equidistant', 12],
  ['stereographic_north_pole', POLAR],
  ['stereographic_south_pole', POLAR],
  ['cassini', 18],
  ['sinusoidal', 24],
])

const PARAMETERS: readonly (readonly [string, number])[] = [
  ['false_easting', KEY.falseEasting],
  ['false_northing', KEY.falseNorthing],
  ['central_meridian', KEY.naturalOriginLng],
  ['scale_factor', KEY.scaleAtNaturalOrigin],
  ['latitude_of_origin', KEY.naturalOriginLat],
  ['standard_parallel_1', KEY.standardParallel1],
  ['standard_parallel_2', KEY.standardParallel2],
]
