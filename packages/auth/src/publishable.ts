import type { Principal, PublicScope } from './principal.ts'

/** Limits of a publishable key, which is part of the URLs of a public page. */
export interface PublicLimits {
  /** `schema.name` each. */
  readonly tables: readonly string[]
  /** Origins of pages, as browsers send them; `*` for any. */
  readonly origins: readonly string[]
}

/** Limits as the scopes of a key. */
export function publicScopes({ tables, origins }: PublicLimits): PublicScope[] {
  return [...tables.map((table) => `table:${table}` as const), ...origins.map((origin) => `origin:${origin}` as const)]
}

/** The limits of a publishable key; null for every other key. */
export function publicLimitsOf({ role, scopes }: Principal): PublicLimits | null {
  if (role !== 'anon' || scopes === null) return null
  const named = (kind: string) =>
    scopes.filter((scope) => scope.startsWith(kind)).map((scope) => scope.slice(kind.length))
  return { tables: named('table:'), origins: named('origin:') }
}

/** Whether a page may use a key, by `Origin`, else by `Referer`; without both only a key for any origin is accepted. */
export function isFromOrigin(
  { origins }: PublicLimits,
  headers: { readonly origin?: string | undefined; readonly referer?: string | undefined },
): boolean {
  if (origins.includes('*')) return true
  const { origin, referer } = headers
  const from = origin ?? (referer === undefined ? undefined : URL.parse(referer)?.origin)
  return from !== undefined && origins.includes(from)
}
