import { Type, type Static } from 'typebox'
import { named } from './named.ts'

/** Query of `GET /places`. */
export const PlaceQuery = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 500, description: 'A town, district or region, with its country.' }),
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
  },
  { additionalProperties: false },
)
export type PlaceQuery = Static<typeof PlaceQuery>

/** Result of a search by name: an area with its outline. */
export const Place = named(
  'Place',
  Type.Object({
    name: Type.String({ description: 'The name in full, as the geocoder says it.' }),
    element: Type.Union([Type.String(), Type.Null()], {
      description: 'Its element of OpenStreetMap, e.g. relation/3459013, where the geocoder says so.',
    }),
    geojson: Type.Unsafe<object>(
      Type.Object(
        {},
        { additionalProperties: true, description: 'Its outline: a Polygon or MultiPolygon in EPSG:4326.' },
      ),
    ),
  }),
)
export type Place = Static<typeof Place>
