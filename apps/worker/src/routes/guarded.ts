import { Problem, ref } from '@terrane/contracts'
import type { TerraneError } from '@terrane/core'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { ProjectDirectory } from '../projects/project-directory.ts'
import type { JobScope } from '../queue/job-row.ts'
import { mountOf, principalOf } from './access.ts'

/** Pattern of a record's id in a path. */
export const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** Query of a route on a project. */
export const ProjectQuery = Type.Object(
  { projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })) },
  { additionalProperties: false },
)

/** Options of a route that requires a server key: its schema with tag, keys and problem answers. */
export function guarded<const Schema extends { readonly response: object }>(tag: string, schema: Schema) {
  const response = { ...schema.response, '4xx': ref(Problem), '5xx': ref(Problem) }
  return { schema: { ...schema, tags: [tag], security: [{ apikey: [], bearer: [] }], response } }
}

interface ScopeDeps {
  readonly projects: Pick<ProjectDirectory, 'scope'>
}

/** The project that `projectRef` of the query names. @throws what the project directory throws */
export function requestScope({ projects }: ScopeDeps, request: FastifyRequest): Promise<JobScope> {
  const { projectRef } = request.query as { projectRef?: string }
  return projects.scope(principalOf(request), projectRef, '/querystring/projectRef')
}

/** Finds a row of the caller's project by the id of a path. */
export type Find<Row> = (request: FastifyRequest, id: string) => Promise<{ scope: JobScope; row: Row }>

/** Makes a {@link Find} that also throws `notFound` for a row of another project. */
export function finder<Row>(
  deps: ScopeDeps,
  rows: { find(scope: JobScope, id: string): Promise<Row | null> },
  notFound: (fields: { id: string }) => TerraneError,
): Find<Row> {
  return async (request, id) => {
    const scope = await requestScope(deps, request)
    const row = UUID.test(id) ? await rows.find(scope, id) : null
    if (!row) throw notFound({ id })
    return { scope, row }
  }
}

/** Sets the Location header of a new record. */
export function located<Reply extends FastifyReply>(
  request: FastifyRequest,
  reply: Reply,
  { links }: { readonly links: { readonly self: string } },
): Reply {
  return reply.header('location', mountOf(request) + links.self) as Reply
}
