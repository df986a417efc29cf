import { FileFacts, InspectFile, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { scopeKey } from '../queue/job-row.ts'
import { principalOf } from './access.ts'
import { guarded } from './guarded.ts'
import type { FileInspector } from '../inspect/file-inspector.ts'
import type { SubmitContext } from '../jobs/task.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** The project of a caller, and facts of its files. */
export interface InspectDeps {
  readonly projects: Pick<ProjectDirectory, 'scope' | 'openForSubmit'>
  readonly inspector: Pick<FileInspector, 'inspect'>
  readonly checkUrl: SubmitContext['checkUrl']
}

/** `POST /inspect`: reads a file as ogr2ogrImport would, and reports its contents. */
export function inspectRoute(app: Http, deps: InspectDeps): void {
  app.post(
    '/inspect',
    guarded('worker', {
      operationId: 'inspectFile',
      summary: 'A look at a file',
      description:
        'Reads a file of up to 64 MiB as ogr2ogrImport would, for at most 30 seconds, and tells its layers with rows, fields, types, reference system and extent. Nothing is kept.',
      body: InspectFile,
      response: { 200: ref(FileFacts) },
    }),
    async (request, reply) => {
      const { projectRef, fileUrl } = request.body
      if (fileUrl !== undefined) deps.checkUrl(fileUrl, '/fileUrl')
      const scope = await deps.projects.scope(principalOf(request), projectRef, '/projectRef')
      await using project = await deps.projects.openForSubmit(scope, undefined)
      const left = new AbortController()
      reply.raw.once('close', () => left.abort())
      const { database, store } = project
      // Await the inspection, because the project is closed after this block.
      return await deps.inspector.inspect({ key: scopeKey(scope), database, store }, request.body, left.signal)
    },
  )
}
