/** How a run is done, and left. */
interface Attempted {
  readonly work: () => Promise<unknown>
  /** Maximum wait for the work to stop, once it is told to. */
  readonly leaveMs: () => number
  /** Called when the work did not stop in time. */
  readonly onLeft: (waitedMs: number) => void
}

/** Runs work until it ends. Work that does not stop in time is abandoned: its later effects are discarded. */
export async function outcomeOf(
  signal: AbortSignal,
  { work, leaveMs, onLeft }: Attempted,
): Promise<{ result: unknown } | { thrown: unknown }> {
  const { promise: left, reject: leave } = Promise.withResolvers<never>()
  let timer: NodeJS.Timeout | undefined
  signal.addEventListener('abort', () => {
    const waitedMs = leaveMs()
    timer = setTimeout(() => {
      onLeft(waitedMs)
      leave(signal.reason)
    }, waitedMs)
  })
  try {
    return { result: await Promise.race([work(), left]) }
  } catch (error) {
    return { thrown: signal.aborted ? signal.reason : error }
  } finally {
    clearTimeout(timer)
  }
}
