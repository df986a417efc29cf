import type { ArtifactStore } from './object-store.ts'

/** A finished call of a store; for `get` without reading the body. */
export interface StoreCall {
  readonly operation: string
  readonly seconds: number
  /** Null for a successful call, and for one that found nothing or that a rule of the store refused. */
  readonly failure: unknown
}

/** Codes of errors that mean a broken store. */
const FAILURES: ReadonlySet<unknown> = new Set(['STORAGE_UNAVAILABLE', 'STORAGE_FAILED', 'STORAGE_FULL'])

/** The same store, which reports each asynchronous call. */
export function observeStore<Store extends Pick<ArtifactStore, 'withSignal'>>(
  store: Store,
  onCall: (call: StoreCall) => void,
): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name, target)
      if (typeof member !== 'function') return member
      return (...args: unknown[]): unknown => {
        const startedAt = performance.now()
        const result: unknown = Reflect.apply(member, target, args)
        if (name === 'withSignal') return observeStore(result as Store, onCall)
        if (!(result instanceof Promise)) return result
        const tell = (failure: unknown) =>
          onCall({ operation: String(name), seconds: (performance.now() - startedAt) / 1000, failure })
        result.then(
          () => tell(null),
          (error: unknown) => tell(isFailure(error) ? error : null),
        )
        return result
      }
    },
  })
}

function isFailure(error: unknown): boolean {
  return FAILURES.has((error as { code?: unknown } | null)?.code)
}
