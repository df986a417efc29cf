import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Upgrade } from '@terrane/service'
import type { Functions, LiveFunction } from '../functions.ts'
import { OPEN } from './cors.ts'
import { Incoming } from './incoming.ts'
import { Invocation, type InvocationParts } from './invocation/invocation.ts'
import type { Problem } from './problems.ts'
import { noServiceWorkers, notFound, notStarting, tooManySockets } from './refusals.ts'
import { readTarget } from './target.ts'
import { OpenSockets, mostSockets } from './websocket/open-sockets.ts'

/** Finds the function that a request is for. */
export interface FunctionLookup {
  /** The project whose functions a request is for; null for an unknown host. */
  readonly projectOf: (request: IncomingMessage) => string | null
  /** Loads a known function that is not served yet; undefined when it does not exist. */
  readonly find: (project: string, name: string) => Promise<LiveFunction | undefined> | undefined
  /** Called when loading one fails. */
  readonly onFailed: (error: unknown, name: string, requestId: string) => void
}

const REQUEST_ID = /^[\w.:/+=-]{1,128}$/

/**
 * The data path, a plain listener of Node's HTTP server: it looks the function up, applies its policy, and carries the
 * request into an instance and the answer out. It waits for nothing else.
 */
export class Gateway implements Disposable {
  readonly #lookup: FunctionLookup
  readonly #functions: Functions
  readonly #parts: InvocationParts
  readonly #sockets = new OpenSockets()
  #calls = 0

  constructor(lookup: FunctionLookup, functions: Functions, parts: Omit<InvocationParts, 'functions'>) {
    this.#lookup = lookup
    this.#functions = functions
    this.#parts = { functions, ...parts }
  }

  /** Closes all WebSockets: the host is about to end. */
  closeSockets(): void {
    this.#sockets.close()
  }

  /**
   * Answers a request whose path begins with `/functions/v1/`.
   *
   * @param upgrade set for a WebSocket request
   */
  handle(request: IncomingMessage, response: ServerResponse, upgrade: Upgrade | null = null): void {
    const given = request.headers['x-request-id']
    const requestId = typeof given === 'string' && REQUEST_ID.test(given) ? given : randomUUID()
    const target = readTarget(request.url!)
    const path = target ? target.name + target.rest : ''
    const incoming = new Incoming(request, response, { id: String(++this.#calls), requestId, path, upgrade })
    if (!this.#parts.heads.ownOrigin && request.headers['service-worker'] !== undefined)
      return this.#refuse(incoming, noServiceWorkers())
    const project = target && this.#lookup.projectOf(request)
    if (!target || project === null) return this.#refuse(incoming, notFound(target?.name ?? null))
    const live = this.#functions.get(project, target.name)
    if (live) return this.#begin(live, incoming)
    const finding = this.#lookup.find(project, target.name)
    const absent = () => this.#refuse(incoming, this.#absent(project, target.name))
    if (!finding) return absent()
    finding
      .then((found) => (found ? this.#begin(found, incoming) : absent()))
      .catch((error: unknown) => {
        this.#lookup.onFailed(error, target.name, requestId)
        if (response.headersSent) response.destroy()
        else this.#refuse(incoming, notStarting(1000))
      })
  }

  #begin(live: LiveFunction, incoming: Incoming): void {
    const { project, name, policy } = live.version
    const { upgrade } = incoming
    if (upgrade && !this.#sockets.add(`${project}/${name}`, mostSockets(policy), upgrade.socket))
      return this.#refuse(incoming, tooManySockets())
    new Invocation(this.#parts, live, incoming).begin()
  }

  #absent(project: string, name: string): Problem {
    return this.#functions.isBroken(project, name) ? notStarting(1000) : notFound(name)
  }

  /**
   * Without a function there is no policy. A preflight is granted, so that the page can read the error of its request.
   */
  #refuse(incoming: Incoming, problem: Problem): void {
    if (incoming.isPreflight) return incoming.answerPreflight(OPEN)
    incoming.answerProblem(problem, this.#parts.heads.statusOf(problem.code), OPEN)
  }

  [Symbol.dispose](): void {
    this.closeSockets()
  }
}
