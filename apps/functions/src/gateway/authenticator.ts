import type { IncomingHttpHeaders } from 'node:http'
import { authenticateEither, readCredentials, type Principal, type Role, type Verify } from '@terrane/auth'
import { clientAddress, credentialOf, RateLimits, type EdgeSettings } from '@terrane/service'
import type { Authenticate, Caller } from './caller.ts'

const RANKS: Readonly<Record<Role, Caller['rank']>> = {
  anon: 'anon',
  authenticated: 'user',
  service_role: 'service',
  // These keys are for the shared services and the installation, not for the data of a project.
  services: 'none',
  operator: 'none',
}
const NOBODY: Caller = { rank: 'none', claims: null, apikey: null, authorization: null }

/** How long an answer is used again. A key that is taken away stops working after this and what the keyring adds. */
const REUSE_MS = 10_000
const MAX_KNOWN = 10_000

interface Known {
  readonly caller: Caller
  readonly until: number
}

/**
 * Verifies credentials by a project's keys and tokens, and remembers good ones for ten seconds at most and never beyond
 * their expiry: a warm call then costs a look into a map instead of a signature. Bad ones are not remembered.
 *
 * @param verifierOf the verifier of a project
 * @param edge how much one may ask: the service role by its key, everybody else by address
 */
export function createAuthenticator(verifierOf: (project: string) => Verify, edge: EdgeSettings): Authenticate {
  const limits = new RateLimits(edge)
  const addressOf = clientAddress(edge.trustedProxies)
  const identify = identification(verifierOf, limits)
  const isLimited = edge.ratePerAddress > 0 || edge.ratePerKey > 0
  return (project, request) => {
    const address = addressOf(request)
    const caller = identify(project, request.headers, address)
    if (!isLimited) return caller
    return Promise.resolve(caller).then(async (known) => {
      await limits.count(known.rank === 'service' ? { key: credentialOf(request.headers) } : { address })
      return known
    })
  }
}

function identification(verifierOf: (project: string) => Verify, limits: RateLimits) {
  const known = new Map<string, Known>()
  return (project: string, headers: IncomingHttpHeaders, address: string): Caller | Promise<Caller> => {
    const { apikey, authorization } = headers
    if (apikey === undefined && authorization === undefined) return NOBODY
    const key = `${project}\n${String(apikey)}\n${authorization ?? ''}`
    const now = Date.now()
    const found = known.get(key)
    if (found && now < found.until) return found.caller
    const credentials = readCredentials(headers)
    const verify = () => authenticateEither(credentials, verifierOf(project))
    return limits.verify(address, key, verify).then((principal) => {
      if (!principal) return NOBODY
      const caller: Caller = {
        rank: RANKS[principal.role],
        claims: encodeURIComponent(JSON.stringify(principal.claims)),
        apikey: credentials.apikey,
        authorization: authorization ?? null,
      }
      known.delete(key)
      if (known.size >= MAX_KNOWN) known.delete(known.keys().next().value!)
      known.set(key, { caller, until: Math.min(now + REUSE_MS, expiryOf(principal)) })
      return caller
    })
  }
}

function expiryOf({ claims }: Principal): number {
  return typeof claims['exp'] === 'number' ? claims['exp'] * 1000 : Number.POSITIVE_INFINITY
}
