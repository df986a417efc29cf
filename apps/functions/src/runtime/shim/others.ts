import { sessionClass } from './ai-session.ts'
import { CacheStore } from './state/cache-store.ts'
import { FunctionCaches } from './state/caches.ts'

/** Globals of other platforms: `caches` and `Supabase.ai`. */
export function offerOthers(scope: { readonly fetch: typeof fetch }, warn: (text: string) => void): void {
  const caches = new FunctionCaches(new CacheStore(scope.fetch, warn))
  const ai = Object.freeze({ Session: sessionClass(scope.fetch) })
  const globals = { caches, Supabase: Object.freeze({ ai }) }
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(scope, name, { value, configurable: true, writable: true })
}
