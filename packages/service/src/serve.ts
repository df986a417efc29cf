import { addressInUse } from './errors.ts'
import type { Http } from './http.ts'
import type { Logger } from './logger.ts'

export interface ServeOptions {
  readonly HOST: string
  readonly PORT: number
  readonly DRAIN_TIMEOUT_MS: number
}

/**
 * Listens until SIGTERM, SIGINT or the loss of the parent that started the process with an IPC channel, then stops
 * accepting, lets running requests end within the drain timeout and resolves; the caller's `await using` closes the
 * rest in reverse order of opening. A second signal exits at once.
 *
 * @throws ADDRESS_IN_USE
 * @param beforeClose ends what would keep requests open, e.g. event streams, and stops taking jobs
 */
export async function serve(
  app: Http,
  config: ServeOptions,
  logger: Logger,
  beforeClose?: () => Promise<void>,
): Promise<void> {
  const { HOST: host, PORT: port } = config
  const url = await app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? addressInUse({ host, port }, { cause: error }) : error
  })
  process.send?.({ type: 'listening', url })
  const reason = await stopRequested()
  logger.info({ reason }, 'stopping')
  await within(config.DRAIN_TIMEOUT_MS, beforeClose?.(), logger, 'drain')
  const closed = app.close()
  await within(config.DRAIN_TIMEOUT_MS, closed, logger, 'close')
  logger.info('stopped')
  // The channel to the parent would keep the process alive.
  if (process.connected) process.disconnect()
}

/** Resolves with the reason when the process is asked to stop; from then on a second signal exits at once. */
export function stopRequested(): Promise<string> {
  return new Promise((resolve) => {
    let asked = false
    const stop = (reason: string) => {
      if (asked && reason.startsWith('SIG')) process.exit(1)
      asked = true
      resolve(reason)
    }
    process.on('SIGTERM', () => stop('SIGTERM'))
    process.on('SIGINT', () => stop('SIGINT'))
    if (process.connected) process.once('disconnect', () => stop('parent gone'))
  })
}

async function within(
  ms: number,
  work: PromiseLike<unknown> | undefined,
  logger: Logger,
  phase: string,
): Promise<void> {
  if (!work) return
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms)
  })
  const outcome = await Promise.race([Promise.resolve(work).then(() => 'done' as const), late])
  clearTimeout(timer)
  if (outcome === 'late') logger.warn({ phase, timeoutMs: ms }, 'shutdown phase ran out of time')
}
