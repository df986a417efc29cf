/**
 * Areas whose rings cross the antimeridian, with continuous longitudes: 180° to -180° becomes 180° to 181°. Planar
 * engines would draw such a step as a band around the world. A ring around a pole is closed along the pole.
 */
export function unwrapped<T extends GeoJSON.Geometry | null>(geometry: T): T {
  if (geometry?.type === 'Polygon') return { ...geometry, coordinates: geometry.coordinates.map(unwrappedRing) }
  if (geometry?.type !== 'MultiPolygon') return geometry
  return { ...geometry, coordinates: geometry.coordinates.map((rings) => rings.map(unwrappedRing)) }
}

function unwrappedRing(ring: GeoJSON.Position[]): GeoJSON.Position[] {
  let turn = 0
  const all = ring.map(([lng = 0, lat = 0], i): [number, number] => {
    const step = i === 0 ? 0 : lng - ring[i - 1]![0]!
    if (Math.abs(step) > 180) turn -= Math.sign(step) * 360
    return [lng + turn, lat]
  })
  if (turn === 0) return all
  const [[from, lat], [to]] = [all[0]!, all.at(-1)!]
  const pole = lat < 0 ? -90 : 90
  return [...all, [to, pole], [from, pole], all[0]!]
}
