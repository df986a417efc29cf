import type { IncomingHttpHeaders } from 'node:http'
import { authenticateEither, readCredentials, type Principal, type Role, type Verify } from '@terrane/auth'
import { LRUCache } from 'lru-cache'
import { clientAddress, credentialOf, RateLimits, type EdgeSettings } from '@terrane/service'
import type { Authenticate, Caller } from './caller.ts'
import { notAuthenticated } from './refusals.ts'

const RANKS: Readonly<Record<Role, Caller['rank']>> = {
  anon: 'anon',
  authenticated: 'user',
  service_role: 'service',
  // These keys are for the shared services and the installation, not for the data of a project.
  services: 'none',
  operator: 'none',
}
const ANONYMOUS: Caller = { rank: 'none', claims: null, apikey: null, authorization: null, serviceHeaders: [] }

/** Time for which a result is cached. A revoked key stops working after this and the keyring's own cache time. */
const REUSE_MS = 10_000
const MAX_KNOWN = 10_000

interface Known {
  readonly caller: Caller
  readonly until: number
}

/**
 * Verifies credentials by a project's keys and tokens. Good ones are cached for at most ten seconds and never beyond
 * their expiry, so a warm call costs a map look-up instead of a signature. Bad ones are not cached.
 *
 * @param verifierOf the verifier of a project
 * @param edge rate limits: for the service role per key, for other callers per address
 */
export function createAuthenticator(verifierOf: (project: string) => Verify, edge: EdgeSettings): Authenticate {
  const limits = new RateLimits(edge)
  const addressOf = clientAddress(edge.trustedProxies)
  const identify = identification(verifierOf, limits)
  const isLimited = edge.ratePerAddress > 0 || edge.ratePerKey > 0
  return (project, request, needed) => {
    const address = addressOf(request)
    const strict = (headers: IncomingHttpHeaders) => identify(project, headers, address)
    const caller = needed === 'none' ? identifyAny(strict, request.headers) : strict(request.headers)
    if (!isLimited) return caller
    const count = (known: Caller) => {
      limits.count(known.rank === 'service' ? { key: credentialOf(request.headers) } : { address })
      return known
    }
    return caller instanceof Promise ? caller.then(count) : count(caller)
  }
}

type Identify = (headers: IncomingHttpHeaders) => Caller | Promise<Caller>

/**
 * The caller of a function that anyone may call. An Authorization that is not the project's may be meant for the
 * function, so it counts as absent here. The same holds for a key that is unknown, or that exceeds the rate limit for
 * look-ups.
 */
function identifyAny(identify: Identify, headers: IncomingHttpHeaders): Caller | Promise<Caller> {
  const otherwise = async (error: unknown): Promise<Caller> => {
    if (notAuthenticated(error) === null) throw error
    const { apikey, authorization } = headers
    if (authorization === undefined || apikey === undefined) return ANONYMOUS
    const caller = await identifyAny(identify, { apikey })
    if (caller !== ANONYMOUS) return caller
    // A service-role key in Authorization is replaced for the function even when `apikey` is not valid.
    const { serviceHeaders } = await identifyAny(identify, { authorization })
    return serviceHeaders.length === 0 ? ANONYMOUS : { ...ANONYMOUS, serviceHeaders }
  }
  try {
    const caller = identify(headers)
    return caller instanceof Promise ? caller.catch(otherwise) : caller
  } catch (error) {
    return otherwise(error)
  }
}

function identification(verifierOf: (project: string) => Verify, limits: RateLimits) {
  const known = new LRUCache<string, Known>({ max: MAX_KNOWN })
  return (project: string, headers: IncomingHttpHeaders, address: string): Caller | Promise<Caller> => {
    const { apikey, authorization } = headers
    if (apikey === undefined && authorization === undefined) return ANONYMOUS
    const key = `${project}\n${String(apikey)}\n${authorization ?? ''}`
    const now = Date.now()
    const found = known.get(key)
    if (found && now < found.until) return found.caller
    const credentials = readCredentials(headers)
    const services = new Set<string | null>()
    const verifyOne = async (credential: string) => {
      const principal = await verifierOf(project)(credential)
      if (principal.role === 'service_role') services.add(credential)
      return principal
    }
    const verify = () => authenticateEither(credentials, verifyOne)
    return limits.verify(address, key, verify).then((principal) => {
      if (!principal) return ANONYMOUS
      const caller: Caller = {
        rank: RANKS[principal.role],
        claims: encodeURIComponent(JSON.stringify(principal.claims)),
        apikey: credentials.apikey,
        authorization: authorization ?? null,
        serviceHeaders: [
          ...(services.has(credentials.apikey) ? (['apikey'] as const) : []),
          ...(services.has(credentials.bearer) ? (['authorization'] as const) : []),
        ],
      }
      known.set(key, { caller, until: Math.min(now + REUSE_MS, expiryOf(principal)) })
      return caller
    })
  }
}

function expiryOf({ claims }: Principal): number {
  return typeof claims['exp'] === 'number' ? claims['exp'] * 1000 : Number.POSITIVE_INFINITY
}
