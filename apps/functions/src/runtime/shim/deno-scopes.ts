import type { Scope, Scopes } from './scope.ts'

/** Values by their owner that follow the asynchronous flow of a program; a context is replaced, never changed. */
type Context = Readonly<Record<string, unknown>> | null | undefined

/** Internals of Deno's own `AsyncLocalStorage`. */
interface Core {
  readonly getAsyncContext: () => Context
  readonly setAsyncContext: (context: Context) => void
}

const KEY = 'terrane'

/**
 * The scopes of calls, on the primitive below Deno's `AsyncLocalStorage`. Importing `AsyncLocalStorage` takes a tenth
 * of the start of a small function and makes an entry of a weak map for each call. It is imported only where Deno lacks
 * the primitive.
 */
export async function openScopes(deno: DenoInternals): Promise<Scopes> {
  const core = coreOf(deno)
  if (core) return scopesOver(core)
  const { AsyncLocalStorage } = await import('node:async_hooks')
  return new AsyncLocalStorage<Scope>()
}

/** The part of Deno's API that leads to the primitive. */
export interface DenoInternals {
  readonly internal?: symbol
  readonly [key: symbol]: { readonly core?: Partial<Core> } | undefined
}

function coreOf(deno: DenoInternals): Core | null {
  const core = deno.internal && deno[deno.internal]?.core
  return core?.getAsyncContext && core.setAsyncContext ? (core as Core) : null
}

/** The functions are copied from the core now, before the function could replace them. */
function scopesOver({ getAsyncContext, setAsyncContext }: Core): Scopes {
  return {
    getStore: () => getAsyncContext()?.[KEY] as Scope | undefined,
    run(scope, work, ...args) {
      const before = getAsyncContext()
      setAsyncContext({ __proto__: null, ...before, [KEY]: scope })
      try {
        return work(...args)
      } finally {
        setAsyncContext(before)
      }
    },
  }
}
