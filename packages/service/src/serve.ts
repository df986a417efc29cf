import type { ServerResponse } from 'node:http'
import { Server } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { addressInUse } from './errors.ts'
import type { Http } from './http-type.ts'
import type { Logger } from './logger.ts'
import { serveMetrics } from './metrics.ts'
import { markStopping } from './stopping.ts'

export interface ServeOptions {
  readonly HOST: string
  readonly PORT: number
  /** Maximum time of a graceful shutdown, from the signal to the end of the process. */
  readonly DRAIN_TIMEOUT_MS: number
  /** A port of its own for the metrics; none when 0 or absent. */
  readonly TERRANE_METRICS_PORT?: number
  /** Time without requests after which open connections are closed during shutdown; 500 ms when absent. */
  readonly drainIdleMs?: number
}

/** Work that an app ends before its dependencies are closed. */
export interface StopPhases {
  /** Ends or hands over background work; the app still answers meanwhile, but reports that it is not ready. */
  readonly work?: (budgetMs: number) => Promise<void>
  /** Waits for answers outside of the app's own routes, while connections are drained. */
  readonly requests?: (budgetMs: number) => Promise<void>
}

/** Parts of DRAIN_TIMEOUT_MS, in this order; the rest is for closing. A phase that exceeds its time is abandoned. */
const SHARES = { work: 0.6, requests: 0.3 }

/** Interval between two checks for open connections, in milliseconds. */
const LOOK_MS = 20

/**
 * Listens until SIGTERM, SIGINT or the loss of the parent that started the process with an IPC channel. Then, in this
 * order: reports that it is not ready, ends or hands over its work, drains connections and closes its server. Then it
 * resolves, and the caller's `await using` closes the rest in reverse order of opening; a process that hangs there is
 * killed. A second signal exits at once.
 *
 * @throws ADDRESS_IN_USE
 */
export async function serve(app: Http, config: ServeOptions, logger: Logger, phases: StopPhases = {}): Promise<void> {
  const { HOST: host, PORT: port, DRAIN_TIMEOUT_MS: totalMs } = config
  // Installed before listening: a supervisor that reads the log line may send the signal at once.
  const stop = stopRequested()
  const url = await app.listen({ host, port }).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EADDRINUSE' ? addressInUse({ host, port }, { cause: error }) : error
  })
  using _metrics = await serveMetrics(app, host, config.TERRANE_METRICS_PORT ?? 0)
  process.send?.({ type: 'listening', url, routes: app.routeList })
  const reason = await stop
  const began = performance.now()
  logger.info({ reason }, 'stopping')
  markStopping(app)
  if (phases.work) await within(totalMs * SHARES.work, phases.work, logger, 'work')
  // Only stops listening: an HTTP server's own way to close would cut connections with a running request.
  const closed = new Promise<void>((resolve) => Server.prototype.close.call(app.server, () => resolve()))
  const requestsMs = totalMs * (phases.work ? SHARES.requests : SHARES.work + SHARES.requests)
  await within(
    requestsMs,
    async (budgetMs) => {
      await Promise.all([takeLeave(app, config.drainIdleMs ?? 500, budgetMs), phases.requests?.(budgetMs)])
      await Promise.all([app.close(), closed])
    },
    logger,
    'requests',
  )
  app.server.closeAllConnections()
  const ms = Math.round(performance.now() - began)
  logger.info({ ms }, 'stopped')
  endInTime(Math.max(LEAST_CLOSE_MS, totalMs - ms), logger)
  // The channel to the parent would keep the process alive.
  if (process.connected) process.disconnect()
}

/**
 * Drains connections: answers one more request on each, with `connection: close`, until none is open or no request came
 * for a while. Closing a connection unannounced would lose a request that is on its way to it.
 */
async function takeLeave({ server }: Http, silenceMs: number, mostMs: number): Promise<void> {
  // Counted in checks instead of time, because data that has arrived is read between checks even on a slow machine.
  let silent = 0
  server.prependListener('request', (_, response: ServerResponse) => {
    response.setHeader('connection', 'close')
    silent = 0
  })
  const connections = promisify(server.getConnections.bind(server))
  const end = performance.now() + mostMs
  while (silent++ * LOOK_MS < silenceMs && performance.now() < end && (await connections()) > 0) await sleep(LOOK_MS)
}

/** Resolves with the reason at the first request to stop; after that a second signal exits at once. */
function stopRequested(): Promise<string> {
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

/** Minimum time for the caller to close its resources. */
const LEAST_CLOSE_MS = 1000

/** Ends the process if its resources do not close in time. */
function endInTime(ms: number, logger: Logger): void {
  setTimeout(() => {
    logger.warn({ phase: 'close', timeoutMs: ms }, 'shutdown phase ran out of time')
    process.exit(1)
  }, ms).unref()
}

async function within(
  ms: number,
  work: (budgetMs: number) => Promise<unknown>,
  logger: Logger,
  phase: string,
): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(() => resolve('late'), ms)
  })
  try {
    const outcome = await Promise.race([work(ms), late])
    if (outcome === 'late') logger.warn({ phase, timeoutMs: ms }, 'shutdown phase ran out of time')
  } catch (error) {
    logger.error({ err: error, phase }, 'shutdown phase failed')
  } finally {
    clearTimeout(timer)
  }
}
