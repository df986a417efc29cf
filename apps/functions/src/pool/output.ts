import type { LogMessage, ShimMessage } from '../runtime/shim/protocol.ts'

/** One line that an instance wrote. All of its fields are untrusted. */
export interface FunctionLine {
  readonly level: LogMessage['level']
  readonly text: string
  /** The call that it claims to belong to; empty when none. */
  readonly call: string
  /** Lines lost before this one. */
  readonly dropped: number
}

export interface OutputEvents {
  message(message: ShimMessage): void
  line(line: FunctionLine): void
  /** Stops the reading for this many milliseconds; the writer blocks meanwhile. */
  throttle(ms: number): void
}

const MAX_LINE = 64 * 1024
const MAX_TEXT = 10_000
const LINES_BURST = 200
const LINES_PER_SECOND = 100
const BYTES_BURST = 4 * 1024 * 1024
const BYTES_PER_SECOND = 1024 * 1024
const LEVELS: ReadonlySet<unknown> = new Set(['debug', 'info', 'warn', 'error'])

/**
 * Reads the output of one instance: shim messages, and log lines. Lines over the rate are counted and dropped. Bytes
 * over the rate are not read at all, so a flood blocks the function and not the host.
 */
export class Output {
  readonly #events: OutputEvents
  #held = ''
  #lines = LINES_BURST
  #bytes = BYTES_BURST
  #refilled: number
  #dropped = 0

  constructor(events: OutputEvents, now: number) {
    this.#events = events
    this.#refilled = now
  }

  push(chunk: Buffer, now: number): void {
    this.#refill(now)
    this.#bytes -= chunk.length
    const parts = (this.#held + chunk.toString('utf8')).split('\n')
    this.#held = parts.pop()!
    for (const part of parts) this.#take(part)
    if (this.#held.length > MAX_LINE) {
      this.#take(this.#held)
      this.#held = ''
    }
    if (this.#bytes < 0) this.#events.throttle(Math.ceil((-this.#bytes / BYTES_PER_SECOND) * 1000))
  }

  #refill(now: number): void {
    const seconds = (now - this.#refilled) / 1000
    this.#lines = Math.min(LINES_BURST, this.#lines + seconds * LINES_PER_SECOND)
    this.#bytes = Math.min(BYTES_BURST, this.#bytes + seconds * BYTES_PER_SECOND)
    this.#refilled = now
  }

  #take(text: string): void {
    if (text === '') return
    const message = text.startsWith('{"t":"') ? parse(text) : null
    if (message === null) this.#log('info', text, '', 0)
    else if (message['t'] === 'log') {
      const { level, text: said, call, dropped } = message
      const known = LEVELS.has(level) ? (level as FunctionLine['level']) : 'info'
      const lost = typeof dropped === 'number' && dropped > 0 ? Math.floor(dropped) : 0
      this.#log(known, String(said), typeof call === 'string' ? call : '', lost)
    } else if (isShimMessage(message)) this.#events.message(message)
  }

  #log(level: FunctionLine['level'], text: string, call: string, lost: number): void {
    this.#dropped += lost
    if (this.#lines < 1) {
      this.#dropped++
      return
    }
    this.#lines--
    this.#events.line({ level, text: text.slice(0, MAX_TEXT), call, dropped: this.#dropped })
    this.#dropped = 0
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}

function isShimMessage(value: Record<string, unknown>): value is ShimMessage & Record<string, unknown> {
  switch (value['t']) {
    case 'ready':
      return true
    case 'failed':
      return typeof value['message'] === 'string' && typeof value['stack'] === 'string'
    case 'pong':
      return typeof value['n'] === 'number'
    case 'hold':
    case 'release':
      return typeof value['call'] === 'string'
    default:
      return false
  }
}
