import { EmbedChip, EmbedText, EmbeddedQuery, ref } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import type { FastifyRequest } from 'fastify'
import { queriesBusy } from '../embed/errors.ts'
import { CHIP_BYTES, type Answered, type QueryEmbedder, type QueryProject } from '../embed/query-embedder.ts'
import { scopeKey } from '../queue/job-row.ts'
import { principalOf } from './access.ts'
import { guarded } from './guarded.ts'
import type { ProjectDirectory } from '../projects/project-directory.ts'

/** The project of a caller, and vectors of its queries. */
export interface EmbedDeps {
  readonly projects: Pick<ProjectDirectory, 'scope' | 'openForSubmit'>
  readonly queries: Pick<QueryEmbedder, 'text' | 'chip'>
}

/** Maximum pictures in memory while they arrive or are embedded, 8 MiB each at most. */
const UPLOADS = 16

type Ask = (project: QueryProject) => Promise<Answered>

/** `POST /embed` and `/embed/chip`: a text or picture as a vector of a table's model, and the most similar rows. */
export async function embedRoutes(app: Http, deps: EmbedDeps): Promise<void> {
  const answer = async (request: FastifyRequest, projectRef: string | undefined, path: string, ask: Ask) => {
    const scope = await deps.projects.scope(principalOf(request), projectRef, path)
    await using project = await deps.projects.openForSubmit(scope, undefined)
    const { table, vector, rows } = await ask({ key: scopeKey(scope), database: project.database })
    return { table: table.tableName, model: table.modelName, dims: table.dims, embedding: Array.from(vector), rows }
  }
  app.post(
    '/embed',
    guarded('worker', {
      operationId: 'embedText',
      summary: 'Tiles by words',
      description: "Embeds a text with the text part of a table's model, and finds the rows most like it.",
      body: EmbedText,
      response: { 200: ref(EmbeddedQuery) },
    }),
    (request) =>
      answer(request, request.body.projectRef, '/projectRef', (project) => deps.queries.text(project, request.body)),
  )
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(['image/png', 'image/tiff'], { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    let uploads = 0
    scope.addHook('onRequest', async (_request, reply) => {
      if (uploads >= UPLOADS) throw queriesBusy({ limit: UPLOADS, of: '' })
      uploads++
      reply.raw.once('close', () => uploads--)
    })
    const chips = scope as unknown as Http
    chips.post(
      '/embed/chip',
      {
        bodyLimit: CHIP_BYTES,
        ...guarded('worker', {
          operationId: 'embedChip',
          summary: 'Tiles by a picture',
          description:
            "Embeds a small GeoTIFF (image/tiff) or PNG (image/png) as the table's rasters were, and finds the rows most like it: at most 8 MiB, 64 tiles, a PNG 2048 × 2048 pixels, 30 seconds.",
          consumes: ['image/png', 'image/tiff'],
          querystring: EmbedChip,
          response: { 200: ref(EmbeddedQuery) },
        }),
      },
      (request, reply) => {
        const left = new AbortController()
        reply.raw.once('close', () => left.abort())
        return answer(request, request.query.projectRef, '/querystring/projectRef', (project) =>
          deps.queries.chip(project, request.query, request.body as Buffer, left.signal),
        )
      },
    )
  })
}
