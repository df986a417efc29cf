import { expect, test } from 'vitest'
import { sridOfPrj } from './system.ts'

const geographic = (name: string, datum = 'D') =>
  `GEOGCS["${name}",DATUM["${datum}",SPHEROID["S",6378137.0,298.257]],PRIMEM["Greenwich",0.0],UNIT["Degree",0.0174532925199433]]`
const projected = (base: string, method: string, parameters: Readonly<Record<string, number>>, unit = '"Meter",1.0') =>
  `PROJCS["P",${base},PROJECTION["${method}"],${Object.entries(parameters)
    .map(([name, value]) => `PARAMETER["${name}",${value}.0]`.replace('.9996.0', '.9996'))
    .join(',')},UNIT[${unit}]]`
const utm = (meridian: number, northing = 0, scale = 0.9996) => ({
  False_Easting: 500_000,
  False_Northing: northing,
  Central_Meridian: meridian,
  Scale_Factor: scale,
  Latitude_Of_Origin: 0,
})
const WGS84 = geographic('GCS_WGS_1984')

test.each([
  ['WGS 84', WGS84, 4326],
  ['a system that says its code', 'GEOGCS["x",AUTHORITY["EPSG","4267"]]', 4267],
  ['NAD83 with line ends', geographic('GCS_North_American_1983').replaceAll(',', ',\n  '), 4269],
  ['a UTM zone of the north', projected(WGS84, 'Transverse_Mercator', utm(9)), 32_632],
  ['a UTM zone of the south', projected(WGS84, 'Transverse_Mercator', utm(-51, 10_000_000)), 32_722],
  ['a UTM zone of ETRS89', projected(geographic('GCS_ETRS_1989'), 'Transverse_Mercator', utm(15)), 25_833],
  [
    'Web Mercator',
    projected(WGS84, 'Mercator_Auxiliary_Sphere', { Central_Meridian: 0, Auxiliary_Sphere_Type: 0 }),
    3857,
  ],
])('%s is known', (_, wkt, srid) => {
  expect(sridOfPrj(wkt)).toBe(srid)
})

test.each([
  ['nothing', ''],
  ['a system of another name', geographic('GCS_Elsewhere')],
  ['one in grads', WGS84.replace('0.0174532925199433', '0.0157079632679')],
  ['a transverse Mercator that is no zone', projected(WGS84, 'Transverse_Mercator', utm(10))],
  ['a zone of another scale', projected(WGS84, 'Transverse_Mercator', utm(9, 0, 1))],
  ['a zone in feet', projected(WGS84, 'Transverse_Mercator', utm(9), '"Foot_US",0.3048006096')],
  ['a zone of the south of a system that has none', projected(geographic('GCS_ETRS_1989'), 'Transverse_Mercator', utm(9, 10_000_000))], // prettier-ignore
  ['another method', projected(WGS84, 'Lambert_Conformal_Conic', utm(9))],
])('%s is not', (_, wkt) => {
  expect(sridOfPrj(wkt)).toBeNull()
})
