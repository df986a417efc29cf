import { useEffect, useState } from 'preact/hooks'

/** A value with change notifications. */
export interface Store<T> {
  readonly get: () => T
  readonly set: (value: T) => void
  /** Calls back after each change; returns a function that stops it. */
  readonly subscribe: (onChange: () => void) => () => void
}

export function createStore<T>(initial: T): Store<T> {
  let value = initial
  const followers = new Set<() => void>()
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return
      value = next
      for (const follow of followers) follow()
    },
    subscribe: (onChange) => {
      followers.add(onChange)
      return () => followers.delete(onChange)
    },
  }
}

/** The value of a store, kept up to date. */
export function useStore<T>(store: Store<T>): T {
  const [value, setValue] = useState(store.get)
  useEffect(() => {
    const read = () => setValue(store.get)
    read()
    return store.subscribe(read)
  }, [store])
  return value
}
