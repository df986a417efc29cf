// Global events of programs that are written for other platforms: `fetch` of service workers, `beforeunload` of Supabase.

type Handler = (request: Request, context: { readonly waitUntil: (work: Promise<unknown>) => void }) => unknown
type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown }

/** The part of the global scope that is used. */
export interface EventScope {
  addEventListener?: (type: string, listener: Listener | null, options?: unknown) => void
  dispatchEvent?: (event: Event) => boolean
  onbeforeunload?: unknown
}

/** Time for a listener of `beforeunload`, when it holds nothing by `waitUntil`: less than the host's grace, which ends the process. */
const UNLOAD_MS = 1900

/** Watches which listeners a program adds. */
export class GlobalEvents {
  readonly #scope: EventScope
  /** Null until the instance has to end. */
  #works: Set<Promise<unknown>> | null = null
  #isAwaited = false

  /** @param onFetch takes the handler of a program that listens to `fetch` */
  constructor(scope: EventScope, onFetch: (handler: Handler) => void) {
    this.#scope = scope
    const native = scope.addEventListener
    if (!native) return
    const add = (type: string, listener: Listener | null, options?: unknown) => {
      if (type === 'fetch' && listener) return onFetch((request, context) => answerOf(listener, request, context))
      if (type === 'beforeunload') this.#isAwaited = true
      return native.call(scope, type, listener, options)
    }
    Object.defineProperty(scope, 'addEventListener', { value: add, configurable: true, writable: true })
  }

  /** Adds work that belongs to no call; it is awaited if it begins during {@link unload}. */
  hold(work: Promise<unknown>): void {
    this.#works?.add(work)
  }

  /**
   * Tells the program that its instance ends, and resolves when the instance may end.
   *
   * @param reason as Supabase names it
   */
  async unload(reason: string): Promise<void> {
    if (!this.#isAwaited && typeof this.#scope.onbeforeunload !== 'function') return
    const works = (this.#works = new Set())
    const event = new Event('beforeunload', { cancelable: true })
    this.#scope.dispatchEvent!(Object.assign(event, { detail: { reason } }))
    if (works.size === 0) await new Promise((resolve) => setTimeout(resolve, UNLOAD_MS))
    for (let waited = -1; waited < works.size;) {
      waited = works.size
      await Promise.allSettled(works)
    }
  }
}

function answerOf(listener: Listener, request: Request, { waitUntil }: Parameters<Handler>[1]): Promise<unknown> {
  return new Promise((resolve, reject) => {
    let isAnswered = false
    const respondWith = (answer: unknown) => {
      isAnswered = true
      resolve(answer)
    }
    const event = Object.assign(new Event('fetch'), { request, waitUntil, respondWith, passThroughOnException() {} })
    if (typeof listener === 'function') listener.call(globalThis, event)
    else listener.handleEvent(event)
    if (!isAnswered) reject(new Error('a listener of "fetch" has to call event.respondWith before it returns'))
  })
}
