import { EmbedChip, EmbedText, EmbeddedQuery, Problem, ref } from '@terrane/contracts'
import { searchEmbeddings, type Database } from '@terrane/database'
import type { Http } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { AppDeps } from '../app.ts'
import { CHIP_BYTES, type Embedded } from '../embed/query-embedder.ts'
import { principalOf } from './access.ts'

const RESPONSE = { 200: ref(EmbeddedQuery), '4xx': ref(Problem), '5xx': ref(Problem) }
const COMMON = { tags: ['worker'], security: [{ apikey: [], bearer: [] }], response: RESPONSE }
/** Rows of an answer, where the caller does not say. */
const ROWS = 10

type Search = Pick<EmbedText, 'tableName' | 'limit' | 'label' | 'projectRef'>
type Embed = (database: Database, signal: AbortSignal) => Promise<Embedded>

/** `POST /embed` and `POST /embed/chip`: words or a picture as a vector of a table's model, and the rows most like it. */
export async function embedRoutes(app: Http, deps: AppDeps): Promise<void> {
  const answer = async (request: FastifyRequest, reply: FastifyReply, search: Search, path: string, embed: Embed) => {
    const scope = await deps.projects.scope(principalOf(request), search.projectRef, path)
    const left = new AbortController()
    reply.raw.once('close', () => left.abort())
    await using project = await deps.projects.openForSubmit(scope, undefined)
    const { table, vector } = await embed(project.database, left.signal)
    const { limit = ROWS, label = null } = search
    const rows = limit === 0 ? [] : await searchEmbeddings(project.database, search.tableName, { vector, limit, label })
    return { table: search.tableName, model: table.modelName, dims: table.dims, embedding: Array.from(vector), rows }
  }
  app.post(
    '/embed',
    {
      schema: {
        ...COMMON,
        operationId: 'embedText',
        summary: 'Tiles by words',
        description: "Embeds a text with the text part of a table's model, and finds the rows most like it.",
        body: EmbedText,
      },
    },
    (request, reply) =>
      answer(request, reply, request.body, '/projectRef', (database, signal) =>
        deps.queries.text(database, request.body.tableName, request.body.text, signal),
      ),
  )
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser(['image/png', 'image/tiff'], { parseAs: 'buffer' }, (_request, body, done) =>
      done(null, body),
    )
    const chips = scope as unknown as Http
    chips.post(
      '/embed/chip',
      {
        bodyLimit: CHIP_BYTES,
        schema: {
          ...COMMON,
          operationId: 'embedChip',
          summary: 'Tiles by a picture',
          description:
            "Embeds a small GeoTIFF (image/tiff) or PNG (image/png) as the table's rasters were, and finds the rows most like it: at most 8 MiB, 2048 × 2048 pixels, 64 tiles, 30 seconds.",
          consumes: ['image/png', 'image/tiff'],
          querystring: EmbedChip,
        },
      },
      (request, reply) =>
        answer(request, reply, request.query, '/querystring/projectRef', (database, signal) =>
          deps.queries.chip(database, request.query, request.body as Buffer, signal),
        ),
    )
  })
}
