import { Type } from 'typebox'

/** An area of interest. Its coordinates are checked by the task, which names the position that is wrong. */
export const aoiGeoJson = () =>
  Type.Object(
    { type: Type.Enum(['Polygon', 'MultiPolygon', 'Feature', 'FeatureCollection']) },
    {
      additionalProperties: true,
      description: 'GeoJSON Polygon or MultiPolygon in degrees, or a Feature or FeatureCollection of such.',
    },
  )
