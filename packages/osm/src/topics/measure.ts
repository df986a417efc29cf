import { UNITS_PER_DEGREE } from '../block.ts'
import type { OsmFeature } from '../features/feature.ts'

/** Mean radius of the Earth in metres. */
const EARTH_RADIUS = 6_371_008.8
const RADIANS = Math.PI / 180 / UNITS_PER_DEGREE

/** Metres per 1e-7 degree of latitude. */
export const METRES_PER_UNIT = EARTH_RADIUS * RADIANS

/** Length of lines in metres along great circles. */
export function lengthOf({
  lon,
  lat,
  lineStart,
  lines,
}: Pick<OsmFeature, 'lon' | 'lat' | 'lineStart' | 'lines'>): number {
  let sum = 0
  for (let line = 0; line < lines; line++) {
    for (let i = lineStart[line]! + 1; i < lineStart[line + 1]!; i++) {
      const phi = lat[i - 1]! * RADIANS
      const next = lat[i]! * RADIANS
      const half = Math.sin((next - phi) / 2) ** 2
      const across = Math.sin(((lon[i]! - lon[i - 1]!) * RADIANS) / 2) ** 2
      sum += 2 * Math.asin(Math.sqrt(half + Math.cos(phi) * Math.cos(next) * across))
    }
  }
  return sum * EARTH_RADIUS
}

/** Area of polygons in square metres on the sphere; their rings are closed, the inner ones turn the other way. */
export function areaOf({ lon, lat, ringStart, polygonStart, polygonCount }: OsmFeature['area']): number {
  let sum = 0
  const rings = polygonStart[polygonCount]!
  for (let ring = 0; ring < rings; ring++) {
    for (let i = ringStart[ring]! + 1; i < ringStart[ring + 1]!; i++) {
      const width = (lon[i]! - lon[i - 1]!) * RADIANS
      sum -= width * (2 + Math.sin(lat[i - 1]! * RADIANS) + Math.sin(lat[i]! * RADIANS))
    }
  }
  return (sum / 2) * EARTH_RADIUS ** 2
}
