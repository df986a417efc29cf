import { tellRetry, type Http } from '@terrane/service'
import multipart from '@fastify/multipart'
import { passDoor, type StorageDeps } from './access.ts'
import { bucketRoutes } from './bucket-routes.ts'
import { toStorageProblem } from './errors.ts'
import { listRoutes } from './list-routes.ts'
import { objectRoutes } from './object-routes.ts'
import { resumableRoutes } from './resumable-routes.ts'
import { signRoutes } from './sign-routes.ts'
import { uploadRoutes } from './upload-routes.ts'

/** `/storage/v1`: buckets and objects over HTTP, with the API that supabase-js uses. */
export async function storageRoutes(app: Http, deps: StorageDeps): Promise<void> {
  await app.register(
    async (scope) => {
      const http = scope as unknown as Http
      scope.setErrorHandler((thrown, request, reply) => {
        const { status, body } = toStorageProblem(thrown, request.id)
        if (status >= 500) request.log.error({ err: thrown }, 'request failed')
        if (status === 401) reply.header('www-authenticate', 'Bearer')
        tellRetry(reply, status, thrown)
        void reply.code(status).type('application/problem+json').serializer(JSON.stringify).send(body)
      })
      scope.addHook('onRequest', (request) => passDoor(deps, request))
      bucketRoutes(http, deps)
      listRoutes(http, deps)
      signRoutes(http, deps)
      objectRoutes(http, deps)
      await scope.register(async (uploads) => {
        // A body is an object's content, whatever its type, so it is passed on as a stream.
        uploads.removeAllContentTypeParsers()
        await uploads.register(multipart, {
          limits: { fileSize: deps.maxObjectBytes, files: 1, fields: 10, fieldSize: 100_000 },
        })
        uploads.addContentTypeParser('*', (_request, payload, done) => done(null, payload))
        uploadRoutes(uploads, deps)
        resumableRoutes(uploads, deps)
      })
    },
    { prefix: '/storage/v1' },
  )
}
