import { servesFor, type Principal, type Verify } from '@terrane/auth'
import { TerraneError } from '@terrane/core'
import { RouteProblem, type ProblemBody } from '@terrane/routing'
import { Counter, type Http } from '@terrane/service'
import type { IncomingMessage } from 'node:http'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { AppDeps } from './app.ts'
import { ANSWERS, Refusal } from './errors.ts'

/** How long the rest of a refused body is read, in milliseconds. */
const DISCARD_MS = 5000

/**
 * `POST route`, the only endpoint of the base. Everything under the base that is no route is answered in Valhalla's form.
 */
export function routingRoutes(base: Http, { engine, verify, registry }: AppDeps): void {
  const answers = new Counter({
    name: 'routing_answers_total',
    help: 'Answers by error code; 0 is a route.',
    labelNames: ['code'],
    registers: [registry],
  })
  base.addHook('onRequest', (request) => checkKey(request, verify))
  // A body is JSON whatever its content type says, and its text is read where the route is computed.
  base.removeAllContentTypeParsers()
  base.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body))
  base.setErrorHandler((thrown: FastifyError, request, reply) => {
    const problem = problemOf(thrown, request)
    answers.inc({ code: String(problem.error_code) })
    if (!request.raw.complete) discardRest(request.raw, reply)
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
async function checkKey(request: FastifyRequest, verify: Verify): Promise<void> {
  const { apikey } = request.query as Readonly<Record<string, unknown>>
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  const sent = [request.headers['apikey'], bearer, apikey].filter((key) => key !== undefined && key !== '')
  if (sent.length === 0) throw new Refusal(ANSWERS.keyMissing)
  let refusal = new Refusal(ANSWERS.keyUnknown)
  for (const key of new Set(sent)) {
    if (typeof key !== 'string') continue
    try {
      const principal = await principalOf(key, verify)
      if (servesFor(principal, 'routes')) return
      if (principal.role === 'services') refusal = new Refusal(ANSWERS.keyOfNoUse)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      if (error.body !== ANSWERS.keyUnknown) refusal = error
    }
  }
  throw refusal
}

async function principalOf(key: string, verify: Verify): Promise<Principal> {
  try {
    return await verify(key)
  } catch (error) {
    if (!(error instanceof TerraneError)) throw error
    if (error.kind === 'unavailable') throw new Refusal(ANSWERS.keysUnavailable)
    throw error.kind === 'unauthenticated' ? new Refusal(ANSWERS.keyUnknown) : error
  }
}

function problemOf(thrown: FastifyError, request: FastifyRequest): ProblemBody {
  if (thrown instanceof RouteProblem || thrown instanceof Refusal) return thrown.body
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
  void reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(problem)
}

/**
 * Reads on for a while: a connection that closes under an upload takes the answer with it, from a caller or a proxy that
 * has not looked for one yet.
 */
function discardRest(request: IncomingMessage, reply: FastifyReply): void {
  reply.removeHeader('connection')
  request.resume()
  const timer = setTimeout(() => request.destroy(), DISCARD_MS)
  request.once('close', () => clearTimeout(timer))
}

function errorCodeOf(body: string): string {
  return /"error_code":(\d+)/.exec(body)?.[1] ?? 'osrm'
}
