import { servesFor, type Verify } from '@terrane/auth'
import { TerraneError, type ErrorKind } from '@terrane/core'
import {
  type Action,
  OSRM_ACTIONS,
  OSRM_SERVICES,
  osrmProblem,
  osrmRequest,
  type OsrmService,
  type ProblemBody,
  RouteProblem,
} from '@terrane/routing'
import { Counter, RateLimits, tellRetry, type EdgeSettings, type Http, type Registry } from '@terrane/service'
import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'
import type { WorkAction } from './engine/desk.ts'
import type { Engine } from './engine/engine.ts'
import { ANSWERS, Refusal } from './errors.ts'

/** Dependencies of the routes: keys, limits, metrics and the engine. */
export interface ServingDeps {
  readonly registry: Registry
  /** Trusted proxies and rate limits. */
  readonly edge: EdgeSettings
  readonly verify: Verify
  readonly engine: Pick<Engine, 'answer' | 'work'>
  readonly actions: readonly Action[]
}

/** Answers the requests of one app, on all of its paths. */
export class Serving {
  readonly #deps: ServingDeps
  readonly #limits: RateLimits
  readonly #answers: Counter

  constructor(deps: ServingDeps) {
    this.#deps = deps
    this.#limits = new RateLimits(deps.edge)
    this.#answers = new Counter({
      name: 'routing_answers_total',
      help: 'Answers by action and error code; 0 is what was asked for.',
      labelNames: ['action', 'code'],
      registers: [deps.registry],
    })
  }

  get actions(): readonly Action[] {
    return this.#deps.actions
  }

  /**
   * Adds a key check, bodies as text, and error answers in its form to a scope.
   *
   * @param actionOf the action that a request is for; null where its path names none
   */
  prepare(
    scope: Http,
    actionOf: (request: FastifyRequest) => Action | null,
    send: (problem: ProblemBody, reply: FastifyReply) => void,
  ): void {
    scope.addHook('onRequest', (request) => checkKey(request, this.#deps.verify, this.#limits))
    // A body counts as JSON whatever its content type. Its text is parsed in the thread that computes the route.
    scope.removeAllContentTypeParsers()
    scope.addContentTypeParser('*', { parseAs: 'string' }, (_, body, done) => done(null, body))
    scope.setErrorHandler((thrown: FastifyError, request, reply) => {
      const problem = problemOf(thrown, request)
      this.#answers.inc({ action: actionOf(request) ?? 'none', code: String(problem.error_code) })
      tellRetry(reply, problem.status_code, thrown)
      send(problem, reply)
    })
  }

  /** Answers the text of a request for an action. */
  async answer(action: Action, text: string, reply: FastifyReply): Promise<FastifyReply> {
    if (action !== 'route') return this.#work(action, text, reply)
    const isWanted = (): boolean => !reply.request.socket.destroyed
    const { status, body, type = 'json' } = await this.#deps.engine.answer(text, isWanted)
    this.#answers.inc({ action, code: status === 200 ? '0' : errorCodeOf(body) })
    return reply.code(status).type(MEDIA_TYPES[type]).send(body)
  }

  async #work(action: WorkAction, text: string, reply: FastifyReply): Promise<FastifyReply> {
    const gone = new AbortController()
    reply.raw.once('close', () => gone.abort())
    const { status, body } = await this.#deps.engine.work(action, text, gone.signal)
    this.#answers.inc({ action, code: status === 200 || typeof body !== 'string' ? '0' : errorCodeOf(body) })
    return reply
      .code(status)
      .type(body instanceof Uint8Array ? bytesType(body) : MEDIA_TYPES.json)
      .send(body)
  }
}

/** Actions that are served; any other path under the base is answered in Valhalla's form. */
export function routingRoutes(base: Http, serving: Serving): void {
  const { actions } = serving
  const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0]!.slice(base.prefix.length + 1)
  const actionOf = (request: FastifyRequest): Action | null =>
    actions.find((action) => action === pathOf(request)) ?? null
  serving.prepare(base, actionOf, sendProblem)
  base.setNotFoundHandler((request) => {
    if (pathOf(request) === 'height') throw new Refusal(ANSWERS.elevationNotServed)
    if (actionOf(request) === null) throw unknownPath(actions)
    throw new Refusal(ANSWERS.wrongMethod)
  })
  for (const action of actions) {
    base.post(`/${action}`, (request, reply) => serving.answer(action, textOf(request), reply))
    // The request in the query, as in Valhalla; maps need it because all tiles share one address.
    base.get<JsonRoute>(`/${action}`, ({ query: { json = '' } }, reply) => {
      if (typeof json !== 'string') throw new Refusal(ANSWERS.jsonRepeated)
      return serving.answer(action, json, reply)
    })
  }
}

interface JsonRoute {
  Querystring: { readonly json?: string | readonly string[] }
}

/** The services of OSRM's HTTP interface whose actions are served. */
export function osrmServices(actions: readonly Action[]): OsrmService[] {
  return OSRM_SERVICES.filter((service) => actions.includes(OSRM_ACTIONS[service]))
}

/** A service of OSRM's HTTP interface under its prefix, with OSRM's answers and errors. */
export function osrmRoutes(scope: Http, service: OsrmService, serving: Serving): void {
  const action = OSRM_ACTIONS[service]
  serving.prepare(scope, () => action, sendOsrmProblem)
  scope.setNotFoundHandler(() => {
    throw new RouteProblem(106, `'GET ${scope.prefix}/{profile}/{lon},{lat};…'`)
  })
  scope.get<OsrmRoute>('/:profile/:coordinates', ({ params, query }, reply) => {
    const isRepeated = Object.entries(query).some(([name, value]) => name !== 'apikey' && Array.isArray(value))
    if (isRepeated) throw new Refusal(ANSWERS.parameterRepeated)
    return serving.answer(action, osrmRequest(service, params, query), reply)
  })
  // The parameters as a form, for requests that are too long for a URL.
  scope.post<OsrmFormRoute>('/:profile', (request, reply) => {
    const inAddress = [...new URLSearchParams(request.url.split('?')[1])].filter(([name]) => name !== 'apikey')
    const form = [...inAddress, ...new URLSearchParams(textOf(request))]
    const { coordinates = '', ...query } = Object.fromEntries(form)
    if (new Set(form.map(([name]) => name)).size < form.length) throw new Refusal(ANSWERS.parameterRepeated)
    return serving.answer(action, osrmRequest(service, { ...request.params, coordinates }, query), reply)
  })
}

interface OsrmFormRoute {
  Params: { readonly profile: string }
}

interface OsrmRoute {
  Params: { readonly profile: string; readonly coordinates: string }
  Querystring: Readonly<Record<string, unknown>>
}

function textOf({ body }: FastifyRequest): string {
  return typeof body === 'string' ? body : ''
}

/** Content type of a binary answer: GPX for XML, else a vector tile. */
function bytesType(bytes: Uint8Array): string {
  return String.fromCharCode(bytes[0] ?? 0) === '<' ? MEDIA_TYPES.gpx : MEDIA_TYPES.tile
}

const MEDIA_TYPES = {
  json: 'application/json; charset=utf-8',
  gpx: 'application/gpx+xml; charset=utf-8',
  tile: 'application/vnd.mapbox-vector-tile',
} as const

/** Answer to unknown paths under the base. */
export function unknownPath(actions: readonly Action[]): RouteProblem {
  return new RouteProblem(106, actions.map((action) => `'/${action}'`).join(' '))
}

/**
 * Checks each place for a key, so that a wrong key in one does not hide the right key in another.
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
      if (servesFor(principal, 'routes')) return limits.count({ key })
      if (principal.role === 'services') refusal = new Refusal(ANSWERS.keyOfNoUse)
    } catch (error) {
      if (!(error instanceof TerraneError) || !(error.kind in KEY_REFUSALS)) throw error
      if (error.kind !== 'unauthenticated') refusal = new Refusal(KEY_REFUSALS[error.kind]!, error.retrySeconds)
    }
  }
  throw refusal
}

/** Answers when a key cannot be verified, by the kind of the error. */
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
  sendAs(problem, problem, reply)
}

/** Sends an error in OSRM's form. */
function sendOsrmProblem(problem: ProblemBody, reply: FastifyReply): void {
  sendAs(problem, osrmProblem(problem), reply)
}

function sendAs({ status_code: status }: ProblemBody, body: object, reply: FastifyReply): void {
  if (status === 405) reply.header('allow', 'GET, POST')
  void reply.code(status).type('application/json; charset=utf-8').serializer(JSON.stringify).send(body)
}

function errorCodeOf(body: string): string {
  return /"error_code":(\d+)/.exec(body)?.[1] ?? 'osrm'
}
