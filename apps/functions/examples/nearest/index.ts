// Finds the places most like a given one, and a route to the best.  POST {origin}/functions/v1/nearest
//   { "table": "scene", "lon": 9.52, "lat": 47.14, "radius": 300, "limit": 5, "costing": "pedestrian" }
import { ProjectError, callProject, credentialsOf, servicesKey } from '../_shared/project.ts'

interface Question {
  readonly table: string
  readonly lon: number
  readonly lat: number
  /** Radius of the area around the point whose tiles are the query, in metres. */
  readonly radius: number
  readonly limit: number
  readonly costing: string
}

interface Match {
  readonly id: number
  readonly similarity: number
  readonly geom: { readonly coordinates: readonly (readonly [number, number][])[] }
}

export default {
  async fetch(request: Request): Promise<Response> {
    try {
      const question = readQuestion(await request.json().catch(() => null))
      const places = await similarPlaces(question, credentialsOf(request))
      const first = places.find((place) => !isHere(place, question))
      const route = first ? await routeTo(question, first) : null
      return Response.json({ places, route })
    } catch (error) {
      if (!(error instanceof ProjectError)) throw error
      return Response.json({ message: error.message }, { status: error.status })
    }
  },
}

function readQuestion(body: unknown): Question {
  const given = (body ?? {}) as Partial<Question>
  const { table, lon, lat, radius = 300, limit = 5, costing = 'pedestrian' } = given
  if (typeof table !== 'string') throw new ProjectError(422, '"table" names the embedding table to search')
  if (!isBetween(lon, -180, 180)) throw new ProjectError(422, '"lon" is a number from -180 to 180')
  if (!isBetween(lat, -90, 90)) throw new ProjectError(422, '"lat" is a number from -90 to 90')
  if (!isBetween(radius, 1, 100_000)) throw new ProjectError(422, '"radius" is a number of metres from 1 to 100000')
  if (!isBetween(limit, 1, 100)) throw new ProjectError(422, '"limit" is a number from 1 to 100')
  return { table, lon, lat, radius, limit, costing }
}

function isBetween(value: unknown, low: number, high: number): value is number {
  return typeof value === 'number' && value >= low && value <= high
}

/** The tiles most like those around the point, best first, each with its centre. */
async function similarPlaces({ table, lon, lat, radius, limit }: Question, credentials: Record<string, string>) {
  const question = { table_name: table, lon, lat, radius, unit: 'm', result_limit: limit, include_geom: true }
  const headers = { 'content-profile': 'geoembeddings', ...credentials }
  const matches = (await callProject('/rest/v1/rpc/similarity_search', question, headers)) as Match[]
  return matches.map(({ id, similarity, geom }) => ({ id, similarity, centre: centreOf(geom) }))
}

function centreOf({ coordinates }: Match['geom']): { readonly lon: number; readonly lat: number } {
  const ring = coordinates[0] ?? []
  const lons = ring.map((point) => point[0])
  const lats = ring.map((point) => point[1])
  return { lon: middle(lons), lat: middle(lats) }
}

function middle(values: readonly number[]): number {
  return (Math.min(...values) + Math.max(...values)) / 2
}

function isHere(
  { centre }: { readonly centre: { lon: number; lat: number } },
  { lon, lat, radius }: Question,
): boolean {
  const metresPerDegree = 111_195
  const east = (centre.lon - lon) * Math.cos((lat * Math.PI) / 180) * metresPerDegree
  return Math.hypot(east, (centre.lat - lat) * metresPerDegree) <= radius
}

/** The route from the point to a place, or why there is none. */
async function routeTo({ lon, lat, costing }: Question, { centre }: { readonly centre: { lon: number; lat: number } }) {
  try {
    const question = { locations: [{ lon, lat }, centre], costing }
    const { trip } = (await callProject('/routing-engine/v1/route', question, servicesKey())) as {
      trip: { summary: { time: number; length: number }; legs: { shape: string }[] }
    }
    return { seconds: trip.summary.time, kilometers: trip.summary.length, shape: trip.legs[0]?.shape ?? '' }
  } catch (error) {
    if (!(error instanceof ProjectError)) throw error
    return { error: error.message }
  }
}
