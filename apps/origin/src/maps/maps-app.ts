import { forbidden } from '@terrane/auth'
import type { Http } from '@terrane/service'
import { compressAnswers } from '../compression.ts'
import type { RestDeps } from '../rest/call.ts'
import { lateAsHouse, RestError, sendRestError } from '../rest/errors.ts'
import { FOR_CALLER } from '../vector/tiles.ts'
import { DrawingProcess } from './drawing-process.ts'
import { fontRoutes } from './font-routes.ts'
import { MapFiles } from './map-files.ts'
import { spriteRoutes } from './sprite-routes.ts'
import { styleRoutes } from './style-routes.ts'

type MapsDeps = Pick<RestDeps, 'database' | 'authenticate'>

/**
 * `/maps/v1`: resources of maps. `styles/{name}`, `sprites/{sprite}.json` and `.png` made of `sprites/{sprite}/{icon}`,
 * and `fonts/{stack}/{range}.pbf` made of `fonts/{name}`. Only the service role writes; reads are under row-level
 * security.
 */
export async function mapsRoutes(app: Http, deps: MapsDeps): Promise<void> {
  await app.register(
    async (scope) => {
      scope.setErrorHandler((thrown, request, reply) => sendRestError(lateAsHouse(thrown), request, reply))
      compressAnswers(scope, { hasTags: true })
      scope.addHook('onRequest', async (request, reply) => {
        reply.headers(FOR_CALLER)
        request.restCaller = await deps.authenticate(request)
        if (request.raw.url?.includes('%00'))
          throw new RestError(400, 'BAD_NAME', 'A zero byte is part of no name and no value')
        const isRead = request.method === 'GET' || request.method === 'HEAD'
        if (!isRead && request.restCaller.role !== 'service_role') throw forbidden({ need: 'the service role key' })
      })
      scope.removeAllContentTypeParsers()
      scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
      const files = new MapFiles(deps.database)
      // Fonts and icons have separate processes, so that a costly font does not delay icons.
      const [icons, fonts] = [new DrawingProcess(), new DrawingProcess()]
      scope.addHook('onClose', () => {
        icons[Symbol.dispose]()
        fonts[Symbol.dispose]()
      })
      styleRoutes(scope, { files })
      spriteRoutes(scope, { files, drawing: icons })
      fontRoutes(scope, { files, drawing: fonts })
    },
    { prefix: '/maps/v1' },
  )
}
