import { Type } from 'typebox'

/** An area of interest. The task checks its coordinates and names an invalid position. */
export const aoiGeoJson = () =>
  Type.Object(
    { type: Type.Enum(['Polygon', 'MultiPolygon', 'Feature', 'FeatureCollection']) },
    {
      additionalProperties: true,
      description: 'GeoJSON Polygon or MultiPolygon in degrees, or a Feature or FeatureCollection of such.',
    },
  )
