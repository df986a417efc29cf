import { Agent, request as httpRequest, type OutgoingHttpHeaders } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import type { Caller } from '../gateway/caller.ts'
import { DEPTH_HEADER, type Depths } from '../gateway/depth.ts'
import type { Verify } from '@terrane/auth'
import { answerAuth, isAuthRequest } from './current-user.ts'
import { deny, type Outgoing } from './door.ts'
import { forward, passable } from './forward.ts'

export const PROJECT_HOST = 'project.internal'

/**
 * Placeholder keys for privileged functions. The host replaces them with the real key. They are not secret, because
 * they are valid only on the function's own socket.
 */
export const KEY_PLACEHOLDERS = {
  serviceKey: 'service-role-key-added-by-the-host',
  servicesKey: 'services-key-added-by-the-host',
} as const

/** Address of a project's API, and the keys that privileged functions may use. */
export interface ProjectAddress {
  readonly apiUrl: string
  readonly serviceKey: string | null
  /** For the routing engine and other shared services. */
  readonly servicesKey: string | null
  /** Verifies the project's tokens, so that the host can identify users itself. */
  readonly verify: Verify
}

/**
 * Carries `fetch('http://project.internal/…')` to the project's API. The credentials are the function's own choice if
 * it sends any, else those of the caller it works for; for privileged functions the service role.
 */
export class ProjectApi implements Disposable {
  readonly #addressOf: (project: string) => ProjectAddress | null
  readonly #depths: Depths
  readonly #agents = { http: new Agent({ keepAlive: true }), https: new TlsAgent({ keepAlive: true }) }

  constructor(addressOf: (project: string) => ProjectAddress | null, depths: Depths) {
    this.#addressOf = addressOf
    this.#depths = depths
  }

  carry(outgoing: Outgoing): void {
    const { request, response, target, call, version } = outgoing
    const address = this.#addressOf(version.project)
    if (!address) return deny(response, 'the project API has no address here')
    const headers = passable(request.headers)
    addCredentials(headers, call?.caller ?? null, version.policy.privileged ? address : null)
    headers[DEPTH_HEADER] = this.#depths.next(call?.depth ?? 0)
    if (call) headers['x-request-id'] = call.requestId
    if (isAuthRequest(target)) {
      const given = headers['authorization']
      return void answerAuth(outgoing, typeof given === 'string' ? given : undefined, address.verify)
    }
    const base = new URL(address.apiUrl)
    headers['host'] = base.host
    const path = base.pathname.replace(/\/$/, '') + target.pathname + target.search
    const { method } = request
    const upstream =
      base.protocol === 'https:'
        ? httpsRequest(base.origin, { agent: this.#agents.https, method, path, headers })
        : httpRequest(base.origin, { agent: this.#agents.http, method, path, headers })
    forward(request, response, upstream, () => deny(response, 'the project API cannot be reached'))
  }

  [Symbol.dispose](): void {
    this.#agents.http.destroy()
    this.#agents.https.destroy()
  }
}

/** @param keys null for functions that are not privileged */
function addCredentials(headers: OutgoingHttpHeaders, caller: Caller | null, keys: ProjectAddress | null): void {
  if (headers['apikey'] === undefined && headers['authorization'] === undefined) {
    const own = keys?.serviceKey ?? null
    const apikey = own ?? caller?.apikey
    const authorization = own === null ? caller?.authorization : `Bearer ${own}`
    if (apikey != null) headers['apikey'] = apikey
    if (authorization != null) headers['authorization'] = authorization
    return
  }
  if (!keys) return
  for (const name of ['serviceKey', 'servicesKey'] as const) {
    const [placeholder, key] = [KEY_PLACEHOLDERS[name], keys[name]]
    if (key === null) continue
    if (headers['apikey'] === placeholder) headers['apikey'] = key
    if (headers['authorization'] === `Bearer ${placeholder}`) headers['authorization'] = `Bearer ${key}`
  }
}
