import { Agent, request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import { bearerOf, type Caller } from '../gateway/caller.ts'
import { DEPTH_HEADER, type Depths } from '../gateway/depth.ts'
import { SERVICES_KEY_PLACEHOLDER } from '../environment.ts'
import { answerAuth, isAuthRequest } from './current-user.ts'
import { keyNotPrivileged } from '../errors.ts'
import type { FunctionVersion } from '../function-version.ts'
import { deny, type Outgoing } from './door.ts'
import { forward, passable } from './forward.ts'
import type { ProjectAddress } from './project-address.ts'
import { STATE_HOST, carryState } from './state.ts'

const PROJECT_HOST = 'project.internal'
/** Host name to which functions send messages for queues of their project. */
const QUEUE_HOST = 'queue.internal'
const SEND_PATH = '/rest/v1/rpc/send_message'
/** Host name from which functions get vectors of texts. */
const AI_HOST = 'ai.internal'
const EMBED_PATH = '/worker/embed/text'

/** Called with the reason why a request of a function was refused, and the id of the call's request. */
export type OnRefused = (version: FunctionVersion, text: string, requestId: string | null) => void

/**
 * Carries requests for `http://project.internal/…` and for the project's public address to the project's API. A request
 * has the credentials that the function sends, or else those of the caller that it answers; for privileged functions
 * those of the service role. Other functions may send the service token while they answer a caller of the service role;
 * the host replaces it with that caller's key.
 */
export class ProjectApi implements Disposable {
  readonly #addressOf: (project: string) => ProjectAddress | null
  readonly #depths: Depths
  readonly #onRefused: OnRefused
  readonly #agents = { http: new Agent({ keepAlive: true }), https: new TlsAgent({ keepAlive: true }) }

  /** @param onRefused called with the reason why a request was refused */
  constructor(addressOf: (project: string) => ProjectAddress | null, depths: Depths, onRefused: OnRefused) {
    this.#addressOf = addressOf
    this.#depths = depths
    this.#onRefused = onRefused
  }

  /** The path and query that a request asks of the project's API; null for requests to other hosts. */
  pathOf({ target, version }: Outgoing): string | null {
    if (target.hostname === QUEUE_HOST) return SEND_PATH
    if (target.hostname === AI_HOST) return EMBED_PATH
    if (target.hostname === STATE_HOST) return '/rest/v1/rpc/state'
    if (target.hostname === PROJECT_HOST) return target.pathname + target.search
    const base = URL.parse(this.#addressOf(version.project)?.publicUrl ?? '')
    if (base?.origin !== target.origin) return null
    const prefix = base.pathname.replace(/\/$/, '')
    return target.pathname.startsWith(`${prefix}/`) ? target.pathname.slice(prefix.length) + target.search : null
  }

  /** @param path the path and query, as {@link pathOf} gives it */
  carry(outgoing: Outgoing, path: string): void {
    const { request, response, call, version, serviceToken } = outgoing
    const address = this.#addressOf(version.project)
    if (!address) return deny(response, 'the project API has no address here')
    const depth = this.#depths.next(version.project, outgoing.depth)
    if (outgoing.target.hostname === STATE_HOST) return void carryState(outgoing, address, depth)
    const headers = passable(request.headers)
    const { privileged } = version.policy
    const serviceKey = privileged === false ? keyOfService(call?.caller ?? null) : address.serviceKey
    if (privileged === false && serviceKey === null && sends(headers, serviceToken)) return this.#refuse(outgoing)
    const servicesKey = privileged === false ? null : address.servicesKey
    const keys = { serviceKey, servicesKey, serviceToken, isDefault: privileged === true }
    if ([QUEUE_HOST, AI_HOST].includes(outgoing.target.hostname)) sendAs(headers, address.serviceKey)
    else addCredentials(headers, call?.caller ?? null, keys)
    headers[DEPTH_HEADER] = depth
    if (call) headers['x-request-id'] = call.requestId
    if (isAuthRequest(path)) {
      const given = headers['authorization']
      return void answerAuth({ request, response, path }, typeof given === 'string' ? given : undefined, address)
    }
    const base = new URL(address.apiUrl)
    headers['host'] = base.host
    const options = { method: request.method, path: base.pathname.replace(/\/$/, '') + path, headers }
    const upstream =
      base.protocol === 'https:'
        ? httpsRequest(base.origin, { ...options, agent: this.#agents.https })
        : httpRequest(base.origin, { ...options, agent: this.#agents.http })
    forward(request, response, upstream, () => deny(response, 'the project API cannot be reached'))
  }

  #refuse({ response, version, call }: Outgoing): void {
    const { code, message, hint } = keyNotPrivileged({ name: version.name })
    this.#onRefused(version, `${message}: ${hint}`, call?.requestId ?? null)
    response.writeHead(403, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ code, message, hint, details: null }))
  }

  [Symbol.dispose](): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }
}

function sends(headers: OutgoingHttpHeaders, key: string | null): boolean {
  return key !== null && (headers['apikey'] === key || headers['authorization'] === `Bearer ${key}`)
}

/** The service-role key that a caller has sent; null for callers of another rank. */
function keyOfService(caller: Caller | null): string | null {
  if (caller?.rank !== 'service') return null
  return bearerOf(caller.authorization) ?? caller.apikey
}

/** Sends a queue message or a text with the key of the project, not with the key of the caller. */
function sendAs(headers: OutgoingHttpHeaders, key: string | null): void {
  headers['content-profile'] = 'geoembeddings'
  delete headers['apikey']
  delete headers['authorization']
  if (key === null) return
  headers['apikey'] = key
  headers['authorization'] = `Bearer ${key}`
}

interface Keys extends Pick<ProjectAddress, 'serviceKey' | 'servicesKey'> {
  /** Token that replaces the service key in this instance. */
  readonly serviceToken: string | null
  /** True when requests without credentials get the service key. */
  readonly isDefault: boolean
}

function addCredentials(headers: OutgoingHttpHeaders, caller: Caller | null, keys: Keys): void {
  if (headers['apikey'] === undefined && headers['authorization'] === undefined) {
    const own = keys.isDefault ? keys.serviceKey : null
    const apikey = own ?? caller?.apikey
    const authorization = own === null ? caller?.authorization : `Bearer ${own}`
    if (apikey != null) headers['apikey'] = apikey
    if (authorization != null) headers['authorization'] = authorization
    return
  }
  const exchanged = [
    [keys.serviceToken, keys.serviceKey],
    [SERVICES_KEY_PLACEHOLDER, keys.servicesKey],
  ] as const
  for (const [placeholder, key] of exchanged) {
    if (key === null || placeholder === null) continue
    if (headers['apikey'] === placeholder) headers['apikey'] = key
    if (headers['authorization'] === `Bearer ${placeholder}`) headers['authorization'] = `Bearer ${key}`
  }
}
