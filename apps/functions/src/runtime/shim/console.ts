import type { HostChannel } from './host-channel.ts'
import type { LogMessage } from './protocol.ts'

const LOG_BURST = 200
const LOG_PER_SECOND = 100

/** Sends console output to the host, a hundred lines a second; dropped lines are counted. */
export function replaceConsole(inspect: (value: unknown) => string, channel: HostChannel): void {
  let tokens = LOG_BURST
  let last = performance.now()
  let dropped = 0
  const log = (level: LogMessage['level'], args: readonly unknown[]) => {
    const now = performance.now()
    tokens = Math.min(LOG_BURST, tokens + ((now - last) * LOG_PER_SECOND) / 1000)
    last = now
    if (tokens < 1) {
      dropped++
      return
    }
    tokens--
    channel.log(level, format(args, inspect), dropped)
    dropped = 0
  }
  const levels = {
    debug: 'debug',
    log: 'info',
    info: 'info',
    dir: 'info',
    warn: 'warn',
    error: 'error',
    trace: 'debug',
  } as const
  for (const [method, level] of Object.entries(levels)) {
    Object.defineProperty(console, method, {
      configurable: true,
      writable: true,
      value: (...args: unknown[]) => log(level, args),
    })
  }
}

/** The console's substitutions (console.spec.whatwg.org). Remaining arguments follow, separated by spaces. */
function format(args: readonly unknown[], inspect: (value: unknown) => string): string {
  const rest = [...args]
  let text = ''
  if (typeof rest[0] === 'string' && rest.length > 1) {
    text = (rest.shift() as string).replace(/%[sdifjoOc%]/g, (code) => {
      if (code === '%%') return '%'
      if (rest.length === 0) return code
      const value = rest.shift()
      if (code === '%c') return ''
      if (code === '%d' || code === '%f') return String(Number(value))
      if (code === '%i') return String(Math.trunc(Number(value)))
      return typeof value === 'string' ? value : inspect(value)
    })
  }
  const others = rest.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ')
  return text === '' ? others : others === '' ? text : `${text} ${others}`
}
