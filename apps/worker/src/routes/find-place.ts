import { Place, PlaceQuery, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { guarded, requestScope } from './guarded.ts'
import type { LookUp, Place as FoundPlace } from '../places/geocoder.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** Dependencies of the place search. */
export interface PlaceDeps {
  readonly projects: Pick<ProjectDirectory, 'scope'>
  /** Finds a place by name. @throws GEOCODER_OFF, GEOCODER_BUSY, GEOCODER_FAILED, PLACE_NOT_FOUND */
  readonly findPlace: (lookUp: Omit<LookUp, 'fetch'>) => Promise<FoundPlace>
}

/** Maximum wait of a request for the geocoder, in milliseconds. */
const WAIT_MS = 10_000

/** `GET /places?name=`: the outline of a place, found by the worker's geocoder. */
export function placeRoute(app: Http, deps: PlaceDeps): void {
  app.get(
    '/places',
    guarded('worker', {
      operationId: 'findPlace',
      summary: 'Outline of a place',
      description:
        'The first area that the geocoder finds under a name, to be sent as aoiGeoJson of a job. What was found is kept for 30 days.',
      querystring: PlaceQuery,
      response: { 200: ref(Place) },
    }),
    async (request, reply) => {
      const { name } = request.query
      await requestScope(deps, request)
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      const lookUp = { query: name, path: '/querystring/name', signal: left.signal, waitMs: WAIT_MS }
      const { geoJson, ...place } = await deps.findPlace(lookUp)
      return { ...place, geojson: geoJson }
    },
  )
}
