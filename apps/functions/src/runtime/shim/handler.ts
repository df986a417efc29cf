/** A function's handler: the second argument is the context, and the third the environment. */
export type Handler = (request: Request, context: Context, env: Readonly<Record<string, unknown>>) => unknown

/**
 * The second argument of a handler, whose prototype is the environment, and the third. Handlers of Workers with three
 * parameters get the environment itself as the second.
 */
export interface Context {
  readonly requestId: string
  readonly functionName: string
  /** Claims of the caller's verified token or key; null for a call without one. */
  readonly claims: Readonly<Record<string, unknown>> | null
  /** Keeps the instance alive for work after the answer. */
  readonly waitUntil: (work: Promise<unknown>) => void
  /**
   * URL of the project's database under the caller's role and claims, valid during this call; null without a database.
   */
  readonly databaseUrl: string | null
  /** Address of the caller; in `Deno.serve` it would be the address of the connection. */
  readonly remoteAddr: { readonly transport: 'tcp'; readonly hostname: string; readonly port: number }
  /** A member of Workers' contexts: an error is always answered by the host. */
  readonly passThroughOnException: () => void
}

type Callable = (...args: readonly unknown[]) => unknown

/** The handler among `(handler)`, `(options, handler)`, `({ handler })`, `({ fetch })`. */
export function handlerOf(args: readonly unknown[]): Handler | null {
  for (const value of args) {
    if (hasMethod(value, 'fetch'))
      return (request, context, env) => (Reflect.construct(value, [context, env]) as { fetch: Callable }).fetch(request)
    if (hasMethod(value, 'queue') || hasMethod(value, 'scheduled')) continue
    if (typeof value === 'function') return calling(value as Callable, undefined)
    if (value === null || typeof value !== 'object') continue
    const object = value as Record<'fetch' | 'handler', unknown>
    for (const name of ['fetch', 'handler'] as const) {
      const method = object[name]
      if (typeof method === 'function') return calling(method as Callable, object)
    }
  }
  return null
}

/** A method for a batch or an event. */
export type Method = (given: object, env: Readonly<Record<string, unknown>>, context: Context) => unknown

/**
 * A method of a default export, or of the objects of its class, as for Workers' `WorkerEntrypoint`; null when there is
 * none.
 */
export function methodOf(exported: unknown, name: 'queue' | 'scheduled'): Method | null {
  const own = (exported as Partial<Record<string, unknown>> | null | undefined)?.[name]
  if (typeof own === 'function') return own.bind(exported) as Method
  if (!hasMethod(exported, name)) return null
  return (given, env, context) =>
    (Reflect.construct(exported, [context, env]) as Record<string, Method>)[name]!(given, env, context)
}

/** True for a class with a method, as `WorkerEntrypoint` of Workers has it. */
function hasMethod(value: unknown, name: string): value is new (...args: unknown[]) => unknown {
  if (typeof value !== 'function') return false
  const { prototype } = value as { prototype?: Partial<Record<string, unknown>> }
  return typeof prototype?.[name] === 'function'
}

function calling(method: Callable, self: unknown): Handler {
  const takesEnv = method.length > 2
  return (request, context, env) => Reflect.apply(method, self, [request, takesEnv ? env : context, context])
}

/** The handler that a module hands over while it starts, by `Deno.serve` or a global event. */
export class HandlerOffer {
  #handler: Handler | null = null
  #isSealed = false
  readonly #taken = Promise.withResolvers<void>()

  get handler(): Handler | null {
    return this.#handler
  }

  /** Resolves when there is a handler. */
  get taken(): Promise<void> {
    return this.#taken.promise
  }

  readonly take = (handler: Handler | null): void => {
    if (this.#isSealed) throw new Error('Deno.serve can only be called while the function starts')
    this.#handler = handler
    if (handler) this.#taken.resolve()
  }

  /** Further handlers are refused from now on. */
  seal(): void {
    this.#isSealed = true
  }
}

interface ServeOptions {
  readonly hostname?: string
  readonly port?: number
  readonly onListen?: (addr: object) => void
}

/** Return value of `Deno.serve`: looks like a server on the requested address. */
export function serverOf(args: readonly unknown[]): object {
  const options = args.find((value): value is ServeOptions => value !== null && typeof value === 'object')
  const addr = { transport: 'tcp', hostname: options?.hostname ?? '0.0.0.0', port: options?.port || 8000 }
  const finished = Promise.withResolvers<void>()
  queueMicrotask(() => options?.onListen?.(addr))
  const shutdown = async () => finished.resolve()
  return { addr, finished: finished.promise, ref() {}, unref() {}, shutdown, [Symbol.asyncDispose]: shutdown }
}
