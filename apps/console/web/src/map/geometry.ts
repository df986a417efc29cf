/** All positions of a geometry. */
export function positionsOf(geometry: GeoJSON.Geometry): number[][] {
  return geometry.type === 'GeometryCollection' ? geometry.geometries.flatMap(positionsOf) : flat(geometry.coordinates)
}

function flat(coordinates: unknown): number[][] {
  const list = coordinates as unknown[]
  return typeof list[0] === 'number' ? [list as number[]] : list.flatMap(flat)
}
