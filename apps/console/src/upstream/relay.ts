import type { FastifyReply, FastifyRequest } from 'fastify'
import { addressOf, projectOf } from '../sessions/guard.ts'
import type { Endpoint } from '../projects/connections.ts'
import { ask, pass, pathOf, type Ask } from './ask.ts'

/** Headers that choose the schema of embedding tables, their catalogue, maps and the search functions. */
export const PROFILE = { 'accept-profile': 'geoembeddings', 'content-profile': 'geoembeddings' }

/** A request to a service; the method is that of the browser's request by default. */
type Relayed = Omit<Ask, 'method'> & Partial<Pick<Ask, 'method'>>

/** Passes a request on to a service, and its answer back. @throws what `ask` throws */
export async function relay(
  request: FastifyRequest,
  reply: FastifyReply,
  to: Endpoint,
  what: Relayed,
): Promise<FastifyReply> {
  return pass(reply, await ask(request, reply, to, { method: request.method as Ask['method'], ...what }))
}

/** Passes a request on to the API of the request's project, as the service role. @throws what `ask` throws */
export function relayToProject(request: FastifyRequest, reply: FastifyReply, what: Relayed): Promise<FastifyReply> {
  return relay(request, reply, projectOf(request).connection.data(), what)
}

/** A call of a function in schema geoembeddings of the project's database. */
export function rpc(name: string, args: object): Ask {
  return { method: 'POST', path: `/rest/v1/rpc${pathOf(name)}`, headers: PROFILE, body: JSON.stringify(args) }
}

/** Query and JSON body of a request to the worker. */
interface WorkerRequest {
  readonly query?: URLSearchParams
  readonly body?: object
}

/** Passes a request on to the worker of the request's project. @throws what `ask` throws */
export async function relayToWorker(
  request: FastifyRequest,
  reply: FastifyReply,
  path: string,
  { query, body }: WorkerRequest = {},
): Promise<FastifyReply> {
  const response = await ask(request, reply, projectOf(request).connection.worker(), {
    method: request.method as Ask['method'],
    path,
    ...(query && { query }),
    ...(body && { body: JSON.stringify(body) }),
  })
  const location = response.headers.get('location')
  // The worker's paths are relative to its own base.
  if (location && /^\/(?:jobs|schedules|webhooks)\//.test(location))
    reply.header('location', `/api/projects/${addressOf(request)}${location}`)
  return pass(reply, response)
}

/** A query that always names the request's project, even if the browser names another one. */
export function scope(request: FastifyRequest, given: Readonly<Record<string, unknown>> = {}): URLSearchParams {
  const query = new URLSearchParams(
    Object.entries(given).map(([name, value]): [string, string] => [name, String(value)]),
  )
  query.set('projectRef', projectOf(request).ref)
  return query
}
