import type { RestQuery } from '@terrane/database/rest-query'
import type { Principal } from '@terrane/auth'

/** Limits of `/rest/v1`; some depend on the role. */
export interface RestLimits {
  /** Longest statement by role, in milliseconds; 0 = no limit. */
  readonly timeoutsMs: Readonly<Record<'anon' | 'authenticated' | 'service_role', number>>
  /** Maximum rows of one answer to a read or a call; 0 = no limit. Content-Range shows whether there are more. */
  readonly maxRows: number
  /** Whether plans (`EXPLAIN`) are shown. */
  readonly plans: boolean
  /** Largest body in bytes of a caller without a service-role key. */
  readonly publicBodyBytes: number
  /** Functions of extensions that may be called, such as `st_asmvt`; others are reported as missing. */
  readonly extensionFunctions: readonly string[]
}

/** Statement timeout of a caller; a role without an entry has the shortest one. */
export function timeoutOf({ timeoutsMs }: RestLimits, { role }: Principal): number {
  return role === 'service_role' || role === 'authenticated' ? timeoutsMs[role] : timeoutsMs.anon
}

/** The query with its page cut to the maximum rows of one answer. */
export function withinRows(query: RestQuery, { maxRows }: RestLimits): RestQuery {
  if (maxRows === 0) return query
  return { ...query, limit: Math.min(query.limit ?? maxRows, maxRows) }
}

const MIB = 1024 * 1024
/** Maximum bytes of an answer by role. An answer is held in memory several times until it is sent. */
const ANSWER_BYTES = { anon: 16 * MIB, authenticated: 32 * MIB, service_role: 64 * MIB } as const

/** Maximum bytes of an answer for a caller; a role without an entry has the smallest. */
export function answerBytesOf({ role }: Pick<Principal, 'role'>): number {
  return role === 'service_role' || role === 'authenticated' ? ANSWER_BYTES[role] : ANSWER_BYTES.anon
}
