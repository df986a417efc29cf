import { readProjectRules } from '@terrane/bundler'
import type { FunctionVersion } from '../function-version.ts'
import { METHODS, type Policy } from '../policy.ts'
import { defaultsOf } from './folder-policy.ts'
import { readFunctionJson } from './function-json.ts'

/** Admission fields of a `function.json`, read before its full validation. */
export interface Admission {
  readonly auth: Policy['auth']
  /** Null: not given. */
  readonly methods: Policy['methods'] | null
}

const RANKS = ['none', 'anon', 'user', 'service'] as const

/**
 * Reads the current admission policy of a function's folder; null while its files are not valid. No `function.json`
 * means the defaults.
 */
export function readAdmission(folder: string): Admission | null {
  try {
    const given = readFunctionJson(folder) as object
    const defaults = defaultsOf(readProjectRules(folder), given)
    const { auth = 'anon', methods } = { ...defaults, ...given } as { auth?: unknown; methods?: unknown }
    const rank = RANKS.find((known) => known === auth)
    if (rank === undefined) return null
    return { auth: rank, methods: Array.isArray(methods) ? METHODS.filter((known) => methods.includes(known)) : null }
  } catch {
    return null
  }
}

/** The version with the stricter of its own policy and the file's current one. */
export function admitting(version: FunctionVersion, admission: Admission | null): FunctionVersion {
  if (!admission) return version
  const { policy } = version
  const auth = RANKS.indexOf(admission.auth) > RANKS.indexOf(policy.auth) ? admission.auth : policy.auth
  const { methods: wanted } = admission
  const methods = wanted === null ? policy.methods : policy.methods.filter((method) => wanted.includes(method))
  return { ...version, policy: { ...policy, auth, methods } }
}
