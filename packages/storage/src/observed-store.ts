import type { ArtifactStore } from './object-store.ts'

/** A call of a store that has ended; what a body costs to read is not part of `get`. */
export interface StoreCall {
  readonly operation: string
  readonly seconds: number
  /** Null of a call that succeeded, and of one that found nothing or was refused by a rule of the store. */
  readonly failure: unknown
}

/** Errors by which a store says that it does not work. */
const FAILURES: ReadonlySet<unknown> = new Set(['STORAGE_UNAVAILABLE', 'STORAGE_FAILED', 'STORAGE_FULL'])

/** The same store, which tells of each call that ends with a promise. */
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
