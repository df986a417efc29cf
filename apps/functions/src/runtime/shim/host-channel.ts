import type { Platform } from './platform.ts'
import type { LogMessage, ShimMessage } from './protocol.ts'
import type { Scopes } from './scope.ts'

const MAX_LOG_CHARS = 10_000

/** Messages of the shim to the host: one JSON object a line on stdout. */
export class HostChannel {
  readonly #platform: Pick<Platform, 'write' | 'inspect'>
  readonly #scopes: Scopes

  constructor(platform: Pick<Platform, 'write' | 'inspect'>, scopes: Scopes) {
    this.#platform = platform
    this.#scopes = scopes
  }

  send(message: ShimMessage | LogMessage): void {
    this.#platform.write(`\n${JSON.stringify(message)}\n`)
  }

  /** Sends a line of the log, with the call that it belongs to. @param dropped lines lost before it */
  log(level: LogMessage['level'], text: string, dropped = 0): void {
    const call = this.#scopes.getStore()?.call ?? ''
    this.send({ t: 'log', level, call, text: text.slice(0, MAX_LOG_CHARS), ...(dropped > 0 && { dropped }) })
  }

  /** Logs a value that was thrown. @param prefix words before it */
  error(error: unknown, prefix = ''): void {
    this.log('error', prefix + this.#platform.inspect(error))
  }
}
