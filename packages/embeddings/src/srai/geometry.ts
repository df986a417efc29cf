/** `[longitude, latitude]` in degrees. */
export type Position = readonly [number, number]

/** Rings of a polygon, the outer one first. */
export type PolygonRings = readonly (readonly Position[])[]

/** A geometry as in GeoJSON. */
export type Geometry =
  | { readonly type: 'Point'; readonly coordinates: Position }
  | { readonly type: 'MultiPoint' | 'LineString'; readonly coordinates: readonly Position[] }
  | { readonly type: 'MultiLineString' | 'Polygon'; readonly coordinates: PolygonRings }
  | { readonly type: 'MultiPolygon'; readonly coordinates: readonly PolygonRings[] }
  | { readonly type: 'GeometryCollection'; readonly geometries: readonly Geometry[] }
