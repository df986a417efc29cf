import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { session, toProblem, type Problem } from './api.ts'
import { useStore } from './store.ts'

/** A value that is read from the console: the value once it is loaded, or the problem. */
export interface Resource<T> {
  readonly value: T | undefined
  readonly problem: Problem | null
  readonly loading: boolean
  readonly reload: () => void
}

/**
 * Reads a value, and reads it again when `key` changes or {@link Resource.reload} is called. The old value of the same
 * key stays until the new one is loaded. A null key reads nothing.
 */
export function useResource<T>(key: string | null, read: (signal: AbortSignal) => Promise<T>): Resource<T> {
  const [state, setState] = useState<{ key: string | null; value?: T; problem: Problem | null; loading: boolean }>({
    key: null,
    problem: null,
    loading: key !== null,
  })
  const [round, setRound] = useState(0)
  const latest = useRef(read)
  latest.current = read
  useEffect(() => {
    if (key === null) return
    const abort = new AbortController()
    setState((old) => (old.key === key ? { ...old, loading: true } : { key, problem: null, loading: true }))
    latest.current(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ key, value, problem: null, loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted) return
        setState((old) => ({ ...old, key, problem: toProblem(error), loading: false }))
      },
    )
    return () => abort.abort()
  }, [key, round])
  const signedIn = useStore(session)
  // Reads that failed because the session ended are repeated after the next sign-in.
  useEffect(() => {
    if (signedIn && state.problem?.code === 'NOT_SIGNED_IN') setRound((r) => r + 1)
  }, [signedIn])
  const reload = useCallback(() => setRound((r) => r + 1), [])
  const current = state.key === key
  return {
    value: current ? state.value : undefined,
    problem: current ? state.problem : null,
    loading: key !== null && (!current || state.loading),
    reload,
  }
}

/** Milliseconds before a request to a busy server is repeated. */
const AGAIN_MS = 3000

/** A resource that is read again while the server is busy, until it answers or refuses the request. */
export function useRetried<T>(resource: Resource<T>): Resource<T> {
  const { problem, reload } = resource
  useEffect(() => {
    if (!problem || (problem.status >= 400 && problem.status < 500 && problem.status !== 429)) return
    const timer = setTimeout(reload, AGAIN_MS)
    return () => clearTimeout(timer)
  }, [problem])
  return resource
}

/** Calls back every `ms` while the page is visible, and when it becomes visible again. Null pauses. */
export function useInterval(ms: number | null, onTick: () => void): void {
  const latest = useRef(onTick)
  latest.current = onTick
  useEffect(() => {
    if (ms === null) return
    const tick = () => {
      if (document.visibilityState === 'visible') latest.current()
    }
    const timer = setInterval(tick, ms)
    document.addEventListener('visibilitychange', tick)
    return () => {
      clearInterval(timer)
      document.removeEventListener('visibilitychange', tick)
    }
  }, [ms])
}
