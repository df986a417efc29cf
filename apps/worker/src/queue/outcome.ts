/** The work of a run, and how long it may take to stop. */
interface Attempted {
  readonly work: () => Promise<unknown>
  /** Maximum wait for the work to stop after the signal has aborted. */
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
