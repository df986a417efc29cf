import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Upgrade } from '@terrane/service'
import { answerPreflight, answerProblem } from './answer.ts'
import { Bodies } from './invocation/bodies.ts'
import type { FunctionVersion } from '../function-version.ts'
import type { Functions, LiveFunction } from '../functions.ts'
import type { Authenticate } from './caller.ts'
import type { Depths } from './depth.ts'
import { OPEN, isPreflight } from './cors.ts'
import { Invocation, type Desk, type InvocationFacts } from './invocation/invocation.ts'
import { statusOf, type Problem } from './problems.ts'
import { noServiceWorkers, notFound, notStarting, tooManySockets } from './refusals.ts'
import { readTarget, type Target } from './target.ts'
import { OpenSockets, mostSockets } from './websocket/open-sockets.ts'

/** The part of a logger that the gateway uses. */
export interface GatewayLog {
  info(fields: object, message: string): void
  warn(fields: object, message: string): void
  error(fields: object, message: string): void
}

export interface GatewayOptions {
  /** The project whose functions a request is for; null for an unknown host. */
  readonly projectOf: (request: IncomingMessage) => string | null
  readonly functions: Functions
  /** Loads a known function that is not served yet; undefined when there is none. */
  readonly find: (project: string, name: string) => Promise<LiveFunction | undefined> | undefined
  readonly authenticate: Authenticate
  readonly depths: Depths
  readonly log: GatewayLog
  /** Told about every request when it is over. */
  readonly onFinished: (invocation: Invocation) => void
  /** True for the address of a proxy that is believed about the caller's address. */
  readonly trusts: (address: string) => boolean
  /** The address of the caller, as the last trusted proxy names it. */
  readonly clientOf: (request: IncomingMessage) => string
  /** Told once for each version and text when headers of a function's answers are left out. */
  readonly onNarrowed: (version: FunctionVersion, text: string) => void
  /** Whether a function's answer may act as a page of the origin that it comes from. */
  readonly ownOrigin: boolean
  /** 546, or another status for proxies that refuse it. */
  readonly resourceLimitStatus: number
  /** Most bytes of request bodies held at once, over all functions. */
  readonly bufferBytes: number
  /** Longest time a caller may take to send a body. */
  readonly bodyTimeoutMs: number
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/

/**
 * The data path, a plain listener of Node's HTTP server: it looks the function up, applies its policy, and carries the
 * request into an instance and the answer out. Nothing here waits for anything that is not needed for that.
 */
export class Gateway implements Desk, Disposable {
  readonly functions: Functions
  readonly authenticate: Authenticate
  readonly depths: Depths
  readonly bodies: Bodies
  readonly log: GatewayLog
  readonly resourceLimitStatus: number
  readonly ownOrigin: boolean
  readonly trusts: (address: string) => boolean
  readonly clientOf: (request: IncomingMessage) => string
  readonly #options: GatewayOptions
  readonly #sockets = new OpenSockets()
  readonly #narrowed = new WeakMap<FunctionVersion, Set<string>>()
  #calls = 0

  constructor(options: GatewayOptions) {
    this.#options = options
    this.functions = options.functions
    this.authenticate = options.authenticate
    this.depths = options.depths
    this.bodies = new Bodies(options.bufferBytes, options.bodyTimeoutMs)
    this.log = options.log
    this.resourceLimitStatus = options.resourceLimitStatus
    this.ownOrigin = options.ownOrigin
    this.trusts = options.trusts
    this.clientOf = options.clientOf
  }

  /** Closes all WebSockets: the host is about to end. */
  closeSockets(): void {
    this.#sockets.close()
  }

  /**
   * Answers a request whose path begins with `/functions/v1/`.
   *
   * @param upgrade of one that asks for a WebSocket
   */
  handle(request: IncomingMessage, response: ServerResponse, upgrade: Upgrade | null = null): void {
    const given = request.headers['x-request-id']
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    const target = readTarget(request.url!)
    if (!this.ownOrigin && request.headers['service-worker'] !== undefined)
      return this.#refuse(request, response, requestId, noServiceWorkers())
    const project = target && this.#options.projectOf(request)
    if (!target || project === null) {
      const name = target?.name ?? null
      return this.#refuse(request, response, requestId, notFound(name))
    }
    const live = this.functions.get(project, target.name)
    const facts = { id: String(++this.#calls), requestId, upgrade }
    if (live) return this.#begin(live, target, request, response, facts)
    const finding = this.#options.find(project, target.name)
    const absent = () => this.#refuse(request, response, requestId, this.#absent(project, target.name))
    if (!finding) return absent()
    finding
      .then((found) => (found ? this.#begin(found, target, request, response, facts) : absent()))
      .catch((error: unknown) => {
        this.log.error({ err: error, function: target.name, requestId }, 'function could not be loaded')
        if (response.headersSent) response.destroy()
        else this.#refuse(request, response, requestId, notStarting(1000))
      })
  }

  #begin(
    live: LiveFunction,
    target: Target,
    request: IncomingMessage,
    response: ServerResponse,
    facts: InvocationFacts,
  ): void {
    const { project, name, policy } = live.version
    const { upgrade, requestId } = facts
    if (upgrade && !this.#sockets.add(`${project}/${name}`, mostSockets(policy), upgrade.socket))
      return this.#refuse(request, response, requestId, tooManySockets())
    new Invocation(this, live, target, request, response, facts).begin()
  }

  #absent(project: string, name: string): Problem {
    return this.functions.isBroken(project, name) ? notStarting(1000) : notFound(name)
  }

  /** There is no function, hence no policy; the request of a page that was preflighted hears why. */
  #refuse(request: IncomingMessage, response: ServerResponse, requestId: string, problem: Problem): void {
    if (isPreflight(request.method!, request.headers))
      return answerPreflight(request, response, { requestId, policy: OPEN })
    const status = statusOf(problem.code, this.resourceLimitStatus)
    answerProblem(request, response, problem, { status, requestId, policy: OPEN })
  }

  finished(invocation: Invocation): void {
    this.#options.onFinished(invocation)
  }

  narrowed(version: FunctionVersion, text: string): void {
    const told = this.#narrowed.get(version) ?? new Set()
    if (told.has(text)) return
    this.#narrowed.set(version, told.add(text))
    this.#options.onNarrowed(version, text)
  }

  /** Fields that identify the request of a log line. */
  labels(invocation: Invocation): object {
    const { project, name, version } = invocation.functionVersion
    return { project, function: name, version, requestId: invocation.requestId }
  }

  [Symbol.dispose](): void {
    this.closeSockets()
    this.bodies[Symbol.dispose]()
  }
}
