import proj4 from 'proj4'
import { invalidCrs } from '../errors.ts'
import type { RasterCrs } from '../raster-info.ts'

/** Finds the definition of a CRS by its EPSG code. */
export interface CrsCatalogue {
  find(epsg: number): RasterCrs | null
}

/** A CRS that an operator adds: its EPSG code, a name for messages, and a PROJ string with its datum shift, if any. */
export interface CrsEntry {
  readonly epsg: number
  readonly name: string
  readonly definition: string
}

/**
 * The CRSs that footprints can be made of. Built in are the families whose transformation to WGS 84 agrees with PROJ
 * within 1 mm: measured at 300 points of each area of use, the worst is 0.7 mm (LAEA), all others below 0.1 mm. proj4
 * has no grids and picks no regional shift, so a CRS that needs either is not in the list.
 *
 * @param extra added by the operator, who answers for the accuracy of the definition; replaces a built-in of that code
 * @throws INVALID_CRS_DEFINITION
 */
export function createCrsCatalogue(extra: readonly CrsEntry[] = []): CrsCatalogue {
  const added = new Map(extra.map((entry) => [entry.epsg, checked(entry)]))
  return { find: (epsg) => added.get(epsg) ?? builtIn(epsg) }
}

/** EPSG codes `first … last`, numbered from `zone` on. */
interface Family {
  readonly first: number
  readonly last: number
  readonly zone: number
  name(zone: number): string
  definition(zone: number): string
}

const WGS84 = '+datum=WGS84'
/** NAD83, ETRS89, SIRGAS 2000, GDA and the like: PROJ takes them to WGS 84 without a shift. */
const GRS80 = '+ellps=GRS80 +towgs84=0,0,0'

const utm = (first: number, last: number, zone: number, system: string, datum: string, south = false): Family => ({
  first,
  last,
  zone,
  name: (n) => `${system} / UTM zone ${n}${south ? 'S' : 'N'}`,
  definition: (n) => `+proj=utm +zone=${n}${south ? ' +south' : ''} ${datum}`,
})

const FAMILIES: readonly Family[] = [
  utm(32601, 32660, 1, 'WGS 84', WGS84),
  utm(32701, 32760, 1, 'WGS 84', WGS84, true),
  utm(26906, 26923, 6, 'NAD83', GRS80),
  utm(6330, 6348, 1, 'NAD83(2011)', GRS80),
  utm(25828, 25838, 28, 'ETRS89', GRS80),
  utm(31965, 31976, 11, 'SIRGAS 2000', GRS80),
  utm(31977, 31985, 17, 'SIRGAS 2000', GRS80, true),
  utm(3097, 3101, 51, 'JGD2000', GRS80),
  utm(6688, 6692, 51, 'JGD2011', GRS80),
  { ...utm(28348, 28358, 48, 'GDA94', GRS80, true), name: (n) => `GDA94 / MGA zone ${n}` },
  { ...utm(7846, 7859, 46, 'GDA2020', GRS80, true), name: (n) => `GDA2020 / MGA zone ${n}` },
]

const SINGLES: readonly (readonly [epsg: number, name: string, definition: string])[] = [
  [4326, 'WGS 84', `+proj=longlat ${WGS84}`],
  [4258, 'ETRS89', `+proj=longlat ${GRS80}`],
  [4269, 'NAD83', `+proj=longlat ${GRS80}`],
  [4283, 'GDA94', `+proj=longlat ${GRS80}`],
  [4674, 'SIRGAS 2000', `+proj=longlat ${GRS80}`],
  [6318, 'NAD83(2011)', `+proj=longlat ${GRS80}`],
  [7844, 'GDA2020', `+proj=longlat ${GRS80}`],
  [4167, 'NZGD2000', `+proj=longlat ${GRS80}`],
  [3857, 'WGS 84 / Pseudo-Mercator', '+proj=merc +lon_0=0 +a=6378137 +b=6378137 +nadgrids=@null'],
  [3395, 'WGS 84 / World Mercator', `+proj=merc +lon_0=0 ${WGS84}`],
  [4087, 'WGS 84 / World Equidistant Cylindrical', `+proj=eqc +lon_0=0 ${WGS84}`],
  [6931, 'WGS 84 / NSIDC EASE-Grid 2.0 North', `+proj=laea +lon_0=0 +lat_0=90 +x_0=0 +y_0=0 ${WGS84}`],
  [6932, 'WGS 84 / NSIDC EASE-Grid 2.0 South', `+proj=laea +lon_0=0 +lat_0=-90 +x_0=0 +y_0=0 ${WGS84}`],
  [3031, 'WGS 84 / Antarctic Polar Stereographic', `+proj=stere +lon_0=0 +lat_0=-90 +lat_ts=-71 ${WGS84}`],
  [3976, 'WGS 84 / NSIDC Sea Ice Polar Stereographic South', `+proj=stere +lon_0=0 +lat_0=-90 +lat_ts=-70 ${WGS84}`],
  [3413, 'WGS 84 / NSIDC Sea Ice Polar Stereographic North', `+proj=stere +lat_0=90 +lat_ts=70 +lon_0=-45 ${WGS84}`],
  [3995, 'WGS 84 / Arctic Polar Stereographic', `+proj=stere +lon_0=0 +lat_0=90 +lat_ts=71 ${WGS84}`],
  [3996, 'WGS 84 / IBCAO Polar Stereographic', `+proj=stere +lon_0=0 +lat_0=90 +lat_ts=75 ${WGS84}`],
  [5041, 'WGS 84 / UPS North (E,N)', `+proj=stere +lon_0=0 +lat_0=90 +k=0.994 +x_0=2000000 +y_0=2000000 ${WGS84}`],
  [5042, 'WGS 84 / UPS South (E,N)', `+proj=stere +lon_0=0 +lat_0=-90 +k=0.994 +x_0=2000000 +y_0=2000000 ${WGS84}`],
  [32661, 'WGS 84 / UPS North (N,E)', `+proj=stere +lon_0=0 +lat_0=90 +k=0.994 +x_0=2000000 +y_0=2000000 ${WGS84}`],
  [32761, 'WGS 84 / UPS South (N,E)', `+proj=stere +lon_0=0 +lat_0=-90 +k=0.994 +x_0=2000000 +y_0=2000000 ${WGS84}`],
  [6328, 'NAD83(2011) / UTM zone 59N', `+proj=utm +zone=59 ${GRS80}`],
  [6329, 'NAD83(2011) / UTM zone 60N', `+proj=utm +zone=60 ${GRS80}`],
  [5070, 'NAD83 / Conus Albers', `+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +x_0=0 +y_0=0 ${GRS80}`],
  [6350, 'NAD83(2011) / Conus Albers', `+proj=aea +lat_0=23 +lon_0=-96 +lat_1=29.5 +lat_2=45.5 +x_0=0 +y_0=0 ${GRS80}`],
  [3978, 'NAD83 / Canada Atlas Lambert', `+proj=lcc +lat_0=49 +lon_0=-95 +lat_1=49 +lat_2=77 ${GRS80}`],
  [3035, 'ETRS89 / LAEA Europe', `+proj=laea +lat_0=52 +lon_0=10 +x_0=4321000 +y_0=3210000 ${GRS80}`],
  [3034, 'ETRS89 / LCC Europe', `+proj=lcc +lat_0=52 +lon_0=10 +lat_1=35 +lat_2=65 +x_0=4000000 +y_0=2800000 ${GRS80}`],
  [3067, 'ETRS89 / TM35FIN(E,N)', `+proj=utm +zone=35 ${GRS80}`],
  [3006, 'SWEREF99 TM', `+proj=utm +zone=33 ${GRS80}`],
  [2154, 'RGF93 / Lambert-93', `+proj=lcc +lat_0=46.5 +lon_0=3 +lat_1=49 +lat_2=44 +x_0=700000 +y_0=6600000 ${GRS80}`],
  [2180, 'ETRF2000-PL / CS92', `+proj=tmerc +lat_0=0 +lon_0=19 +k=0.9993 +x_0=500000 +y_0=-5300000 ${GRS80}`],
  [3577, 'GDA94 / Australian Albers', `+proj=aea +lat_0=0 +lon_0=132 +lat_1=-18 +lat_2=-36 +x_0=0 +y_0=0 ${GRS80}`],
  [9473, 'GDA2020 / Australian Albers', `+proj=aea +lat_0=0 +lon_0=132 +lat_1=-18 +lat_2=-36 +x_0=0 +y_0=0 ${GRS80}`],
  [
    2193,
    'NZGD2000 / New Zealand Transverse Mercator 2000',
    `+proj=tmerc +lat_0=0 +lon_0=173 +k=0.9996 +x_0=1600000 +y_0=10000000 ${GRS80}`,
  ],
]

/** Hawaii and the Aleutians: PROJ shifts NAD83 by 0.9 m there, and proj4 picks no shift by region. */
const NAD83_SHIFTED: RasterCrs['exceptions'] = [
  [-161, 18, -154, 23],
  [172, 51, 180, 55],
  [-180, 51, -164, 55],
]

function builtIn(epsg: number): RasterCrs | null {
  const single = SINGLES.find(([code]) => code === epsg)
  if (single !== undefined) {
    const [, name, definition] = single
    return { epsg, name, definition, exceptions: epsg === 4269 ? NAD83_SHIFTED : [] }
  }
  const family = FAMILIES.find(({ first, last }) => first <= epsg && epsg <= last)
  if (family === undefined) return null
  const zone = family.zone + epsg - family.first
  return { epsg, name: family.name(zone), definition: family.definition(zone), exceptions: [] }
}

function checked({ epsg, name, definition }: CrsEntry): RasterCrs {
  try {
    proj4(definition)
  } catch (cause) {
    throw invalidCrs({ epsg, definition }, { cause })
  }
  return { epsg, name, definition, exceptions: [] }
}
