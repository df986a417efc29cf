import type { RestQuery } from '@terrane/database/rest-query'
import type { Principal } from '@terrane/auth'

/** Limits of `/rest/v1`; some depend on the role. */
export interface RestLimits {
  /** Longest statement by role, in milliseconds; 0 = no limit. */
  readonly timeoutsMs: Readonly<Record<'anon' | 'authenticated' | 'service_role', number>>
  /** Most rows of one answer to a read or a call; 0 = no limit. More are there if Content-Range counts more. */
  readonly maxRows: number
  /** Whether plans (`EXPLAIN`) are shown. */
  readonly plans: boolean
  /** Largest body in bytes of a caller who has no service-role key. */
  readonly publicBodyBytes: number
  /** Functions of extensions that may be called, `st_asmvt` for one; all others of an extension are not found. */
  readonly extensionFunctions: readonly string[]
}

/** The longest statement of a caller; a role that has no entry has the shortest one. */
export function timeoutOf({ timeoutsMs }: RestLimits, { role }: Principal): number {
  return role === 'service_role' || role === 'authenticated' ? timeoutsMs[role] : timeoutsMs.anon
}

/** The query with its page cut to the most rows of one answer. */
export function withinRows(query: RestQuery, { maxRows }: RestLimits): RestQuery {
  if (maxRows === 0) return query
  return { ...query, limit: Math.min(query.limit ?? maxRows, maxRows) }
}

const MIB = 1024 * 1024
/** Most bytes of an answer by role: it is held in memory, several times over, until it is sent. */
const ANSWER_BYTES = { anon: 16 * MIB, authenticated: 32 * MIB, service_role: 64 * MIB } as const

/** The most bytes that the database may answer a caller; a role that has no entry has the fewest. */
export function answerBytesOf({ role }: Pick<Principal, 'role'>): number {
  return role === 'service_role' || role === 'authenticated' ? ANSWER_BYTES[role] : ANSWER_BYTES.anon
}
