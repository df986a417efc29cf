import { findInTable } from './epsg-table.ts'
import type { GeoNumbers } from './geo-keys.ts'
import { KEY, USER_DEFINED } from './geo-keys.ts'
import { UNIT_METERS } from './units.ts'

/** A definition, or the reason why none can be built. */
export type Built = { readonly definition: string } | { readonly why: string }

const DEGREE = 9102
const GREENWICH = 8901
const METER = 9001
/** Ellipsoids whose unknown datum counts as WGS 84, which is accurate to a few meters; by the code of the ellipsoid. */
const MODERN: ReadonlyMap<number, readonly [number, number]> = new Map([
  [7030, [6378137, 298.257223563]],
  [7019, [6378137, 298.257222101]],
])
/** Ellipsoid of Hughes 1980, used for sea ice: its coordinates count as WGS 84 without a shift, as in PROJ. */
const SEA_ICE = [6378273, 298.279411] as const
/** Datums whose geographic CRS has another code. */
const CRS_OF_DATUM: ReadonlyMap<number, number> = new Map([
  [6326, 4326],
  [6269, 4269],
  [6258, 4258],
  [6267, 4267],
  [6283, 4283],
])
/** Accepted radii in metres; others do not belong to the Earth. */
const EARTH_RADIUS = [6_350_000, 6_390_000] as const

/**
 * The PROJ string of a CRS that is given by its parameters. The datum comes from the EPSG table. Ambiguous parameters
 * are refused: an old ellipsoid without a datum, angles in other units than degrees, an unknown method.
 */
export function buildDefinition(numbers: GeoNumbers): Built {
  const datum = datumOf(numbers)
  if ('why' in datum) return datum
  const isProjected =
    numbers[KEY.modelType] === 1 || (numbers[KEY.modelType] === undefined && KEY.projectedCrs in numbers)
  const angular = numbers[KEY.angularUnits] ?? DEGREE
  const isDegree = angular === USER_DEFINED && Math.abs((numbers[KEY.angularUnitSize] ?? 0) - Math.PI / 180) < 1e-9
  if (angular !== DEGREE && !isDegree) return { why: `its angles are in the unit EPSG:${angular}` }
  if (!isProjected) return { definition: `+proj=longlat ${datum.definition}` }
  const projection = projectionOf(numbers)
  return 'why' in projection ? projection : { definition: `${projection.definition} ${datum.definition}` }
}

function datumOf(numbers: GeoNumbers): Built {
  const code = numbers[KEY.geographicCrs] ?? USER_DEFINED
  const known = code === USER_DEFINED ? CRS_OF_DATUM.get(numbers[KEY.datum] ?? 0) : code
  if (known !== undefined) {
    const entry = findInTable(known)
    if (entry?.definition)
      return { definition: ownEllipsoid(numbers) ?? entry.definition.slice('+proj=longlat '.length) }
    return { why: `its datum is that of EPSG:${known}, which ${entry === null ? 'is not known' : 'needs a grid'}` }
  }
  const fromGreenwich = numbers[KEY.primeMeridianLng] ?? 0
  if (fromGreenwich !== 0 || ![undefined, GREENWICH, USER_DEFINED].includes(numbers[KEY.primeMeridian]))
    return { why: 'its prime meridian is not Greenwich' }
  const modern = MODERN.get(numbers[KEY.ellipsoid] ?? 0)
  const a = numbers[KEY.semiMajor] ?? modern?.[0]
  if (a === undefined) return { why: 'it names no datum and no ellipsoid' }
  if (a < EARTH_RADIUS[0] || a > EARTH_RADIUS[1]) return { why: `its radius of ${a} m is not that of the Earth` }
  const b = numbers[KEY.semiMinor]
  const rf = numbers[KEY.inverseFlattening] ?? modern?.[1] ?? (b === undefined || b === a ? 0 : a / (a - b))
  // On a sphere coordinates count as WGS 84 without a shift, as in PROJ.
  if (rf === 0) return { definition: `+R=${a}` }
  if (a === SEA_ICE[0] && Math.abs(rf - SEA_ICE[1]) < 1e-3) return { definition: `+a=${a} +rf=${rf}` }
  const same = [...MODERN.values()].some(([major, flat]) => Math.abs(major - a) < 0.5 && Math.abs(flat - rf) < 0.01)
  return same
    ? { definition: `+a=${a} +rf=${rf} +towgs84=0,0,0` }
    : { why: `its ellipsoid (${a} m, 1/${rf}) is named without a datum` }
}

/**
 * Some writers round the ellipsoid of WGS 84. The coordinates were computed with the rounded one, and PROJ keeps
 * longitude and latitude.
 */
function ownEllipsoid(numbers: GeoNumbers): string | null {
  const { [KEY.semiMajor]: a, [KEY.inverseFlattening]: rf } = numbers
  if (a === undefined || rf === undefined) return null
  const differs = [...MODERN.values()].every(
    ([major, flat]) => Math.abs(major - a) > 1e-3 || Math.abs(flat - rf) > 1e-6,
  )
  return differs && Math.abs(a - 6378137) < 10 && Math.abs(rf - 298.257) < 0.01 ? `+a=${a} +rf=${rf}` : null
}

const POLAR = 15

/** Reads a parameter: the first existing one of several keys. */
type Read = (...keys: readonly number[]) => number | undefined

function projectionOf(numbers: GeoNumbers): Built {
  const projection = numbers[KEY.projection] ?? USER_DEFINED
  const utm = /^16([01])(0[1-9]|[1-5]\d|60)$/.exec(String(projection))
  const unit = numbers[KEY.linearUnits] ?? METER
  const meters = unit === USER_DEFINED ? numbers[KEY.linearUnitSize] : UNIT_METERS.get(unit)
  if (meters === undefined || !(meters > 0)) return { why: `its lengths are in the unit EPSG:${unit}` }
  const toMeter = meters === 1 ? '' : ` +to_meter=${meters}`
  if (utm !== null) {
    return { definition: `+proj=utm +zone=${Number(utm[2])}${utm[1] === '1' ? ' +south' : ''}${toMeter}` }
  }
  if (projection !== USER_DEFINED) return { why: `its projection has only the code ${projection}` }
  const read: Read = (...keys) => keys.map((key) => numbers[key]).find((value) => value !== undefined)
  const method = numbers[KEY.method] ?? 0
  if (method === POLAR && Math.abs(lat(read)) !== 90 && scale(read) !== 1) {
    return { why: 'its polar projection has both a parallel of true scale and a scale' }
  }
  const build = METHODS[method]
  if (build === undefined) return { why: `its projection method has the GeoTIFF code ${method}` }
  const parameters = { ...build(read), ...falseOrigin(read, meters) }
  const missing = Object.entries(parameters).find(([, value]) => typeof value === 'number' && !Number.isFinite(value))
  if (missing !== undefined) return { why: `its parameter ${missing[0]} is missing` }
  const text = Object.entries(parameters).map(([name, value]) => `+${name}=${value}`)
  return { definition: text.join(' ') + toMeter }
}

function falseOrigin(read: Read, meters: number): Record<string, number> {
  const east = read(KEY.falseEasting, KEY.falseOriginEasting, KEY.centerEasting) ?? 0
  const north = read(KEY.falseNorthing, KEY.falseOriginNorthing, KEY.centerNorthing) ?? 0
  return { x_0: east * meters, y_0: north * meters }
}

const lng = (read: Read): number =>
  read(KEY.naturalOriginLng, KEY.falseOriginLng, KEY.centerLng, KEY.straightVerticalPole) ?? NaN
const lat = (read: Read): number => read(KEY.naturalOriginLat, KEY.falseOriginLat, KEY.centerLat) ?? NaN
const scale = (read: Read): number => read(KEY.scaleAtNaturalOrigin, KEY.scaleAtCenter) ?? 1
const parallel1 = (read: Read): number => read(KEY.standardParallel1) ?? NaN
const parallel2 = (read: Read): number => read(KEY.standardParallel2) ?? NaN

/** Projection methods by the codes of ProjMethodGeoKey (GeoTIFF 1.0, section 6.3.3.3). */
const METHODS: Readonly<Record<number, (read: Read) => Record<string, number | string>>> = {
  1: (r) => ({ proj: 'tmerc', lat_0: lat(r), lon_0: lng(r), k: scale(r) }),
  7: (r) =>
    r(KEY.standardParallel1) === undefined
      ? { proj: 'merc', lon_0: lng(r), k: scale(r) }
      : { proj: 'merc', lon_0: lng(r), lat_ts: parallel1(r) },
  8: (r) => ({ proj: 'lcc', lat_0: lat(r), lon_0: lng(r), lat_1: parallel1(r), lat_2: parallel2(r) }),
  9: (r) => ({ proj: 'lcc', lat_0: lat(r), lat_1: lat(r), lon_0: lng(r), k_0: scale(r) }),
  10: (r) => ({ proj: 'laea', lat_0: lat(r), lon_0: lng(r) }),
  11: (r) => ({ proj: 'aea', lat_0: lat(r), lon_0: lng(r), lat_1: parallel1(r), lat_2: parallel2(r) }),
  12: (r) => ({ proj: 'aeqd', lat_0: lat(r), lon_0: lng(r) }),
  // The latitude is the one of true scale; at the pole, a scale factor replaces it.
  [POLAR]: (r) => {
    const at = lat(r)
    const pole = { proj: 'stere', lat_0: Math.sign(at) * 90, lon_0: r(KEY.straightVerticalPole) ?? lng(r) }
    return Math.abs(at) === 90 ? { ...pole, k: scale(r) } : { ...pole, lat_ts: at }
  },
  16: (r) => ({ proj: 'sterea', lat_0: lat(r), lon_0: lng(r), k: scale(r) }),
  17: (r) => ({ proj: 'eqc', lat_0: lat(r) || 0, lon_0: lng(r), lat_ts: r(KEY.standardParallel1) ?? 0 }),
  18: (r) => ({ proj: 'cass', lat_0: lat(r), lon_0: lng(r) }),
  22: (r) => ({ proj: 'poly', lat_0: lat(r), lon_0: lng(r) }),
  24: (r) => ({ proj: 'sinu', lon_0: lng(r) }),
  28: (r) => ({ proj: 'cea', lon_0: lng(r), lat_ts: parallel1(r) }),
}
