import type { ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { addressInUse } from './errors.ts'
import type { Http } from './http.ts'
import type { Logger } from './logger.ts'

export interface ServeOptions {
  readonly HOST: string
  readonly PORT: number
  readonly DRAIN_TIMEOUT_MS: number
  /** How long callers whose connections are open must be silent after a stop was requested; 500 ms when absent. */
  readonly FAREWELL_MS?: number
}

/** Wait between two looks at whether connections are still open, in milliseconds. */
const LOOK_MS = 20

/**
 * Listens until SIGTERM, SIGINT or the loss of the parent that started the process with an IPC channel, then stops
 * accepting, takes leave of open connections, lets running requests end within the drain timeout and resolves;
 * the caller's `await using` closes the rest in reverse order of opening. A second signal exits at once.
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
  // Only stops listening: an HTTP server's own way to close would cut connections with a request on the way.
  const closed = new Promise<void>((resolve) => Server.prototype.close.call(app.server, () => resolve()))
  const farewell = takeLeave(app, config.FAREWELL_MS ?? 500, config.DRAIN_TIMEOUT_MS)
  await within(config.DRAIN_TIMEOUT_MS, beforeClose?.(), logger, 'drain')
  await farewell
  await within(config.DRAIN_TIMEOUT_MS, Promise.all([app.close(), closed]), logger, 'close')
  logger.info('stopped')
  // The channel to the parent would keep the process alive.
  if (process.connected) process.disconnect()
}

/**
 * Goes on answering on open connections, on each for the last time, until none is open or all are silent for a while. A
 * connection that is closed unannounced takes along the request that is just on its way to it.
 */
async function takeLeave({ server }: Http, silenceMs: number, mostMs: number): Promise<void> {
  // Counted in looks: after each of them, what has arrived is read, however slow the machine is.
  let silent = 0
  server.prependListener('request', (_, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    silent = 0
  })
  const connections = promisify(server.getConnections.bind(server))
  const end = performance.now() + mostMs
  while (silent++ * LOOK_MS < silenceMs && performance.now() < end && (await connections()) > 0) await sleep(LOOK_MS)
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
