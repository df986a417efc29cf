import { servesFor, type Verify } from '@terrane/auth'
import { TerraneError, type ErrorKind } from '@terrane/core'
import { RouteProblem, type ProblemBody } from '@terrane/routing'
import { Counter, RateLimits, type Http } from '@terrane/service'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppDeps } from './app.ts'
import { ANSWERS, Refusal } from './errors.ts'

/**
 * `POST route`, the only endpoint of the base. Everything under the base that is no route is answered in Valhalla's form.
 */
export function routingRoutes(base: Http, { engine, verify, registry, edge }: AppDeps): void {
  const limits = new RateLimits(edge)
  const answers = new Counter({
    name: 'routing_answers_total',
    help: 'Answers by error code; 0 is a route.',
    labelNames: ['code'],
    registers: [registry],
  })
  base.addHook('onRequest', (request) => checkKey(request, verify, limits))
  // A body is JSON whatever its content type says, and its text is read where the route is computed.
  base.removeAllContentTypeParsers()
  base.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body))
  base.setErrorHandler((thrown: FastifyError, request, reply) => {
    const problem = problemOf(thrown, request)
    answers.inc({ code: String(problem.error_code) })
    sendProblem(problem, reply)
  })
  base.setNotFoundHandler((request) => {
    if (request.url.split('?', 1)[0] !== `${base.prefix}/route`) throw unknownPath()
    throw new Refusal(ANSWERS.wrongMethod)
  })
  base.post('/route', async (request, reply) => {
    const text = typeof request.body === 'string' ? request.body : ''
    const { status, body, type = 'json' } = await engine.answer(text, () => !request.socket.destroyed)
    answers.inc({ code: status === 200 ? '0' : errorCodeOf(body) })
    return reply.code(status).type(MEDIA_TYPES[type]).send(body)
  })
}

const MEDIA_TYPES = { json: 'application/json; charset=utf-8', gpx: 'application/gpx+xml; charset=utf-8' } as const

/** What is answered under the base where there is nothing. */
export function unknownPath(): RouteProblem {
  return new RouteProblem(106, "'/route'")
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
