import { Agent, request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import { pipeline } from 'node:stream'
import type { Caller } from '../gateway/caller.ts'
import { DEPTH_HEADER, type Depths } from '../gateway/depth.ts'
import { Invocation } from '../gateway/invocation.ts'
import type { Outgoing } from './door.ts'

export const PROJECT_HOST = 'project.internal'

/**
 * What a privileged function may send as its key: the host puts the service key in its place. It is no secret, for it
 * means something on the function's own socket only.
 */
export const SERVICE_KEY_PLACEHOLDER = 'service-role-key-added-by-the-host'

export interface ProjectApiOptions {
  /** Base address of the project's API. */
  readonly url: string
  readonly serviceKey: string
  readonly depths: Depths
}

const NOT_FORWARDED: ReadonlySet<string> = new Set(['host', 'connection', 'keep-alive', 'transfer-encoding', 'upgrade'])
const NOT_RETURNED: ReadonlySet<string> = new Set(['connection', 'keep-alive', 'transfer-encoding', 'upgrade'])

/**
 * Carries `fetch('http://project.internal/…')` to the project's API. The credentials are the function's own choice if
 * it sends any, else those of the caller it works for; for privileged functions the service role.
 */
export function createProjectApi(options: ProjectApiOptions): ((outgoing: Outgoing) => void) & Disposable {
  const base = new URL(options.url)
  const secure = base.protocol === 'https:'
  const agent = secure ? new TlsAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  const send = secure ? httpsRequest : httpRequest
  const carry = (outgoing: Outgoing) => {
    const { request, response, target, call } = outgoing
    const headers = forwarded(request.headers)
    const invocation = call instanceof Invocation ? call : null
    addCredentials(headers, outgoing, invocation?.caller ?? null, options.serviceKey)
    headers[DEPTH_HEADER] = options.depths.next(invocation?.depth ?? 0)
    if (call) headers['x-request-id'] = call.requestId
    const path = `${base.pathname.replace(/\/$/, '')}${target.pathname}${target.search}`
    const upstream = send(new URL(base.origin), { agent, method: request.method, path, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, returned(answer.headers))
      pipeline(answer, response, () => {})
    })
    upstream.on('error', () => {
      if (response.headersSent) response.destroy()
      else response.writeHead(502).end('the project API cannot be reached')
    })
    response.on('close', () => upstream.destroy())
    pipeline(request, upstream, () => {})
  }
  return Object.assign(carry, { [Symbol.dispose]: () => agent.destroy() })
}

function addCredentials(
  headers: OutgoingHttpHeaders,
  { version }: Outgoing,
  caller: Caller | null,
  serviceKey: string,
): void {
  const { privileged } = version.policy
  const given = [headers['apikey'], headers['authorization']]
  if (given.every((value) => value === undefined)) {
    if (privileged) Object.assign(headers, { apikey: serviceKey, authorization: `Bearer ${serviceKey}` })
    else if (caller?.apikey != null) headers['apikey'] = caller.apikey
    if (!privileged && caller?.authorization != null) headers['authorization'] = caller.authorization
    return
  }
  if (!privileged) return
  if (headers['apikey'] === SERVICE_KEY_PLACEHOLDER) headers['apikey'] = serviceKey
  if (headers['authorization'] === `Bearer ${SERVICE_KEY_PLACEHOLDER}`)
    headers['authorization'] = `Bearer ${serviceKey}`
}

function forwarded(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !NOT_FORWARDED.has(name) && !name.startsWith('x-terrane-'))
  return Object.fromEntries(kept)
}

function returned(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !NOT_RETURNED.has(name) && !name.startsWith('x-terrane-'))
  return Object.fromEntries(kept)
}
