const WATCH_MS = 1000
/** Maximum polls that may fail in a row. */
const MOST_FAILURES = 10

/** A stream that polls while it is read. */
export interface Watch<T> {
  readonly stream: ReadableStream<T>
  /** Ends the stream. */
  readonly stop: () => void
}

/** Yields the result of `look` whenever its stamp has changed; polls once a second while it is read. */
export function watch<T>(look: () => Promise<T>, stampOf: (found: T) => string): Watch<T> {
  const state: { isStopped: boolean; wake: (() => void) | null } = { isStopped: false, wake: null }
  let before: string | null = null
  let failures = 0
  const pause = async () =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, WATCH_MS)
      state.wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const stop = () => {
    state.isStopped = true
    state.wake?.()
  }
  const next = async (): Promise<T | null> => {
    while (!state.isStopped) {
      if (before !== null || failures > 0) await pause()
      if (state.isStopped) break
      try {
        const found = await look()
        failures = 0
        const stamp = stampOf(found)
        if (stamp === before || state.isStopped) continue
        before = stamp
        return found
      } catch (error) {
        if (++failures === MOST_FAILURES) throw error
      }
    }
    return null
  }
  const pull = async (controller: ReadableStreamDefaultController<T>) => {
    const found = await next()
    if (found !== null) controller.enqueue(found)
    // A cancelled stream is closed already.
    else if (!isCancelled) controller.close()
  }
  let isCancelled = false
  const cancel = () => {
    isCancelled = true
    stop()
  }
  return { stream: new ReadableStream<T>({ pull, cancel }, { highWaterMark: 0 }), stop }
}
