const RADIANS = Math.PI / 180

/** Radius of the Earth in metres, as in Valhalla, so that lengths agree. */
export const EARTH_RADIUS = 6378160.187

/** Metres between two points in degrees, by the haversine formula. */
export function distanceMeters(lon1: number, lat1: number, lon2: number, lat2: number): number {
  const phi1 = lat1 * RADIANS
  const phi2 = lat2 * RADIANS
  const a = Math.sin((phi2 - phi1) / 2)
  const b = Math.sin(((lon2 - lon1) * RADIANS) / 2)
  const h = Math.min(1, a * a + Math.cos(phi1) * Math.cos(phi2) * b * b)
  return 2 * EARTH_RADIUS * Math.asin(Math.sqrt(h))
}

/** Initial bearing from one point to another in degrees clockwise from north, 0 … 360; 0 for equal points. */
export function bearingDegrees(lon1: number, lat1: number, lon2: number, lat2: number): number {
  if (lon1 === lon2 && lat1 === lat2) return 0
  const phi1 = lat1 * RADIANS
  const phi2 = lat2 * RADIANS
  const lambda = (lon2 - lon1) * RADIANS
  const y = Math.sin(lambda) * Math.cos(phi2)
  const x = Math.cos(phi1) * Math.sin(phi2) - Math.sin(phi1) * Math.cos(phi2) * Math.cos(lambda)
  const bearing = Math.atan2(y, x) / RADIANS
  return bearing < 0 ? bearing + 360 : bearing
}

/** Clockwise angle in whole degrees from one heading to another, 0 … 359. */
export function turnDegrees(from: number, to: number): number {
  return (to - from + 720) % 360
}
