import { FileFacts, InspectFile, Problem, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import type { AppDeps } from '../app.ts'
import { scopeKey } from '../queue/job-row.ts'
import { principalOf } from './access.ts'

/** `POST /inspect`: what ogr2ogrImport would find in a file. */
export function inspectRoute(app: Http, deps: AppDeps): void {
  app.post(
    '/inspect',
    {
      schema: {
        tags: ['worker'],
        operationId: 'inspectFile',
        summary: 'A look at a file',
        description:
          'Reads a file of up to 64 MiB as ogr2ogrImport would, for at most 30 seconds, and tells its layers with rows, fields, types, reference system and extent. Nothing is kept.',
        security: [{ apikey: [], bearer: [] }],
        body: InspectFile,
        response: { 200: ref(FileFacts), '4xx': ref(Problem), '5xx': ref(Problem) },
      },
    },
    async (request, reply) => {
      const { projectRef, fileUrl } = request.body
      if (fileUrl !== undefined) deps.checkUrl(fileUrl, '/fileUrl')
      const scope = await deps.projects.scope(principalOf(request), projectRef, '/projectRef')
      await using project = await deps.projects.openForSubmit(scope, undefined)
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      const { database, store } = project
      return deps.inspector.inspect({ key: scopeKey(scope), database, store }, request.body, left.signal)
    },
  )
}
