import { servesFor, type Verify } from '@terrane/auth'
import { TerraneError, type ErrorKind } from '@terrane/core'
import { type Action, RouteProblem, type ProblemBody, tableRequest } from '@terrane/routing'
import { Counter, RateLimits, type Http } from '@terrane/service'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppDeps } from './app.ts'
import type { WorkAction } from './engine/desk.ts'
import { ANSWERS, Refusal } from './errors.ts'

/** Actions that are served; everything under the base that is none of them is answered in Valhalla's form. */
export function routingRoutes(base: Http, { engine, verify, registry, edge, actions }: AppDeps): void {
  const limits = new RateLimits(edge)
  const answers = new Counter({
    name: 'routing_answers_total',
    help: 'Answers by action and error code; 0 is what was asked for.',
    labelNames: ['action', 'code'],
    registers: [registry],
  })
  base.addHook('onRequest', (request) => checkKey(request, verify, limits))
  // A body is JSON whatever its content type says, and its text is read where the route is computed.
  base.removeAllContentTypeParsers()
  base.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body))
  base.setErrorHandler((thrown: FastifyError, request, reply) => {
    const problem = problemOf(thrown, request)
    answers.inc({ action: actionOf(request, base.prefix, actions) ?? 'none', code: String(problem.error_code) })
    sendProblem(problem, reply)
  })
  base.setNotFoundHandler((request) => {
    if (actionOf(request, base.prefix, actions) === null) throw unknownPath(actions)
    throw new Refusal(ANSWERS.wrongMethod)
  })
  if (actions.includes('route')) {
    base.post('/route', async (request, reply) => {
      const { status, body, type = 'json' } = await engine.answer(textOf(request), () => !request.socket.destroyed)
      answers.inc({ action: 'route', code: status === 200 ? '0' : errorCodeOf(body) })
      return reply.code(status).type(MEDIA_TYPES[type]).send(body)
    })
  }
  const work = async (action: WorkAction, text: string, reply: FastifyReply): Promise<FastifyReply> => {
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const { status, body } = await engine.work(action, text, gone.signal)
    answers.inc({ action, code: status === 200 || typeof body !== 'string' ? '0' : errorCodeOf(body) })
    return reply
      .code(status)
      .type(body instanceof Uint8Array ? MEDIA_TYPES.tile : MEDIA_TYPES.json)
      .send(body)
  }
  for (const action of actions) {
    if (action !== 'route') base.post(`/${action}`, (request, reply) => work(action, textOf(request), reply))
  }
  if (actions.includes('tile')) {
    // Maps have one address for all tiles, with the request in it, as Valhalla's clients write it.
    base.get<TileRoute>('/tile', ({ query }, reply) => work('tile', query.json ?? '', reply))
  }
  if (actions.includes('sources_to_targets')) {
    base.get<TableRoute>(`/${TABLE}/v1/:profile/:coordinates`, ({ params, query }, reply) =>
      work('sources_to_targets', tableRequest(params, query), reply),
    )
  }
}

interface TileRoute {
  Querystring: { readonly json?: string }
}

/** OSRM's name of a matrix. */
const TABLE = 'table'

interface TableRoute {
  Params: { readonly profile: string; readonly coordinates: string }
  Querystring: Readonly<Record<string, unknown>>
}

function textOf({ body }: FastifyRequest): string {
  return typeof body === 'string' ? body : ''
}

/** The action that a path names, if it is served. */
function actionOf({ url }: FastifyRequest, prefix: string, actions: readonly Action[]): Action | null {
  const path = url.split('?', 1)[0]!.slice(prefix.length + 1)
  if (path.startsWith(`${TABLE}/`)) return actions.includes('sources_to_targets') ? 'sources_to_targets' : null
  return actions.find((action) => action === path) ?? null
}

const MEDIA_TYPES = {
  json: 'application/json; charset=utf-8',
  gpx: 'application/gpx+xml; charset=utf-8',
  tile: 'application/vnd.mapbox-vector-tile',
} as const

/** What is answered under the base where there is nothing. */
export function unknownPath(actions: readonly Action[]): RouteProblem {
  return new RouteProblem(106, actions.map((action) => `'/${action}'`).join(' '))
}

/**
 * Each place that a key may be sent in is tried, so that a wrong key in one does not hide the right one in another.
 *
 * @throws Refusal unless the request carries an organization's Services API key as header or query `apikey`, or as Bearer
 */
async function checkKey(request: FastifyRequest, verify: Verify, limits: RateLimits): Promise<void> {
  const { apikey } = request.query as Readonly<Record<string, unknown>>
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const sent = [request.headers['apikey'], bearer, apikey].filter((key) => key !== undefined && key !== '')
  if (sent.length === 0) throw new Refusal(ANSWERS.keyMissing)
  let refusal = new Refusal(ANSWERS.keyUnknown)
  for (const key of new Set(sent)) {
    if (typeof key !== 'string') continue
    try {
      const principal = await limits.verify(request.ip, key, () => verify(key))
      if (servesFor(principal, 'routes')) return await limits.count({ key })
      if (principal.role === 'services') refusal = new Refusal(ANSWERS.keyOfNoUse)
    } catch (error) {
      if (!(error instanceof TerraneError) || !(error.kind in KEY_REFUSALS)) throw error
      if (error.kind !== 'unauthenticated') refusal = new Refusal(KEY_REFUSALS[error.kind]!)
    }
  }
  throw refusal
}

/** What is answered when a key cannot be verified, by the kind of the error. */
const KEY_REFUSALS: Readonly<Partial<Record<ErrorKind, ProblemBody>>> = {
  unauthenticated: ANSWERS.keyUnknown,
  unavailable: ANSWERS.keysUnavailable,
  rate_limited: ANSWERS.tooMany,
}

function problemOf(thrown: FastifyError, request: FastifyRequest): ProblemBody {
  if (thrown instanceof RouteProblem || thrown instanceof Refusal) return thrown.body
  if ((thrown as Partial<TerraneError>).kind === 'too_slow') return ANSWERS.bodyTooSlow
  switch (thrown.statusCode) {
    case 400:
      return new RouteProblem(100).body
    case 413:
      return ANSWERS.bodyTooLarge
    case 415:
      return ANSWERS.contentTypeUnreadable
    default:
      request.log.error({ err: thrown }, 'request failed')
      return new RouteProblem(199).body
  }
}

/** Sends an error in Valhalla's form. */
export function sendProblem(problem: ProblemBody, reply: FastifyReply): void {
  const { status_code: status } = problem
  if (status === 405) reply.header('allow', 'POST')
  if (status === 503) reply.header('retry-after', '5')
  if (status === 429) reply.header('retry-after', '60')
  void reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(problem)
}

function errorCodeOf(body: string): string {
  return /"error_code":(\d+)/.exec(body)?.[1] ?? 'osrm'
}
