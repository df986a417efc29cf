import type { IncomingMessage } from 'node:http'
import type { Policy } from '../policy.ts'

/** The caller of a request, by its verified credentials. */
export interface Caller {
  readonly rank: Policy['auth']
  /** Claims as JSON, percent-encoded for the header that carries them; null without credentials. */
  readonly claims: string | null
  readonly apikey: string | null
  readonly authorization: string | null
  /** Headers that hold a service-role key, even if another header decides the rank. */
  readonly serviceHeaders: readonly ('apikey' | 'authorization')[]
}

/** The key or token of a Bearer Authorization; null for other values. */
export function bearerOf(authorization: string | null): string | null {
  return /^bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1] ?? null
}

/**
 * Verifies the credentials of a request to a project; synchronously when the result is cached.
 *
 * @param needed by the function; for `none`, credentials that are not the project's are left to the function, and the
 * caller is of rank `none`
 * @throws an error with `code` UNAUTHORIZED or RATE_LIMITED and a message for the caller
 */
export type Authenticate = (
  project: string,
  request: IncomingMessage,
  needed: Policy['auth'],
) => Caller | Promise<Caller>

const RANKS = { none: 0, anon: 1, user: 2, service: 3 } as const

export function isAllowed(caller: Caller, needed: Policy['auth']): boolean {
  return RANKS[caller.rank] >= RANKS[needed]
}
