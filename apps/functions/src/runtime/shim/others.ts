import { CacheStore } from './state/cache-store.ts'
import { FunctionCaches } from './state/caches.ts'

const NO_SESSION =
  'Supabase.ai.Session is not offered here: there is no model in a function. Call a model by fetch, and list its host in "net"'

function Session(): never {
  throw new Error(NO_SESSION)
}

/** Globals of other platforms: `caches`, and `Supabase.ai`, which throws that it is not available. */
export function offerOthers(scope: { readonly fetch: typeof fetch }, warn: (text: string) => void): void {
  const caches = new FunctionCaches(new CacheStore(scope.fetch, warn))
  const globals = { caches, Supabase: Object.freeze({ ai: Object.freeze({ Session }) }) }
  for (const [name, value] of Object.entries(globals))
    Object.defineProperty(scope, name, { value, configurable: true, writable: true })
}
