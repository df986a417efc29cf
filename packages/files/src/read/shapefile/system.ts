import { sridOfCrs } from '../geoarrow.ts'

const WGS84_NAME = 'gcs_wgs_1984'
/** EPSG codes of geographic systems by their names in ESRI's WKT. */
const GEOGRAPHIC: Readonly<Record<string, number>> = {
  [WGS84_NAME]: 4326,
  gcs_north_american_1983: 4269,
  gcs_north_american_1927: 4267,
  gcs_etrs_1989: 4258,
  gcs_gda_1994: 4283,
  gcs_sirgas_2000: 4674,
  gcs_rgf_1993: 4171,
}
/** Bases of EPSG codes of UTM systems, north and south, by geographic system: base plus zone is the code. */
const UTM: Readonly<Record<string, { readonly north: number; readonly south?: number }>> = {
  [WGS84_NAME]: { north: 32600, south: 32700 },
  gcs_north_american_1983: { north: 26900 },
  gcs_etrs_1989: { north: 25800 },
}
const DEGREE = 0.0174532925
const WEB_MERCATOR = 3857

/**
 * The EPSG code of the system in a `.prj` (WKT as ESRI writes it, which has names instead of codes): one with a code, a
 * known geographic system, or a UTM zone or Web Mercator on one. Null for all others.
 */
export function sridOfPrj(text: string): number | null {
  const wkt = text.trim()
  const said = sridOfCrs(wkt)
  if (said !== null) return said
  const plain = wkt.toLowerCase().replaceAll(/\s/g, '')
  const [, name = ''] = /geogcs\["([^"]*)"/.exec(plain) ?? []
  const geographic = GEOGRAPHIC[name]
  const [, unit = ''] = /unit\["degree",([\d.]+)/.exec(plain) ?? []
  if (geographic === undefined || Math.abs(Number(unit) - DEGREE) > 1e-9) return null
  if (plain.startsWith('geogcs[')) return geographic
  if (!plain.startsWith('projcs[') || !/unit\["met(?:er|re)",1(?:\.0*)?\]\]$/.test(plain)) return null
  const parameters = new Map<string, number>()
  for (const [, key = '', value] of plain.matchAll(/parameter\["([^"]*)",([-+\d.e]+)\]/g))
    parameters.set(key, Number(value))
  const [, method = ''] = /projection\["([^"]*)"/.exec(plain) ?? []
  if (method === 'transverse_mercator') return utmOf(parameters, UTM[name])
  return method === 'mercator_auxiliary_sphere' && geographic === 4326 && isZero(parameters) ? WEB_MERCATOR : null
}

function utmOf(parameters: ReadonlyMap<string, number>, zones: (typeof UTM)[string] | undefined): number | null {
  const zone = (parameters.get('central_meridian')! + 183) / 6
  const isUtm =
    parameters.get('scale_factor') === 0.9996 &&
    parameters.get('false_easting') === 500_000 &&
    parameters.get('latitude_of_origin') === 0
  if (!isUtm || zones === undefined || !Number.isInteger(zone) || zone < 1 || zone > 60) return null
  const northing = parameters.get('false_northing')
  if (northing === 0) return zones.north + zone
  return northing === 10_000_000 && zones.south !== undefined ? zones.south + zone : null
}

/** Whether all parameters are as Web Mercator has them: 0. */
function isZero(parameters: ReadonlyMap<string, number>): boolean {
  return [...parameters.values()].every((value) => value === 0)
}
