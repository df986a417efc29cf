import { pino, type DestinationStream, type Logger } from 'pino'
import pretty from 'pino-pretty'

export type { Logger }

/** Field names whose values never reach a log, at the top and up to two levels down. */
const SECRET_FIELDS = [
  'apikey',
  'authorization',
  'cookie',
  'password',
  'token',
  'secret',
  'databaseUrl',
  'serviceRoleKey',
  'connectionString',
]

export interface LoggerOptions {
  readonly name: string
  readonly level: string
  /** Pretty when stdout is a terminal, unless given. */
  readonly format?: 'json' | 'pretty'
  /**
   * Writes the JSON lines of one turn of the event loop together, for apps that log a line for each of very many
   * requests. Lines of errors are written at once, with all before them. A process that is killed, or that crashes in
   * native code, loses the other lines of that turn; at any other end they are written.
   */
  readonly byTurn?: boolean
}

/** Maximum characters of held lines; beyond them lines are written before the turn ends. */
const MOST_HELD = 64 * 1024

/** Makes a logger of JSON lines, or readable ones on a terminal. Messages are constant; fields have data with units. */
export function createLogger(options: LoggerOptions): Logger {
  const format = options.format ?? (process.stdout.isTTY ? 'pretty' : 'json')
  const settings = {
    name: options.name,
    level: options.level,
    base: { name: options.name },
    redact: { paths: SECRET_FIELDS.flatMap((f) => [f, `*.${f}`, `*.*.${f}`]), censor: '[redacted]' },
  }
  if (format === 'json') return options.byTurn ? pino(settings, stdoutByTurn()) : pino(settings)
  return pino(
    settings,
    pretty({ colorize: process.stdout.isTTY, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', sync: true }),
  )
}

/** From this level on (pino's `error`) lines are written at once. */
const URGENT_LEVEL = 50

interface TurnStream extends DestinationStream {
  /** pino sets it before each line, for streams that have the symbol below. */
  lastLevel: number
  readonly [LEVEL_WANTED]: true
  /** pino calls it after a `fatal` line. */
  flushSync(): void
}
const LEVEL_WANTED: unique symbol = Symbol.for('pino.metadata')

function stdoutByTurn(): TurnStream {
  const stdout = pino.destination({ fd: 1, sync: true })
  let held = ''
  let hasTurns = true
  const flush = () => {
    const lines = held
    held = ''
    if (lines !== '') stdout.write(lines)
  }
  process.once('exit', () => {
    hasTurns = false
    flush()
  })
  return {
    [LEVEL_WANTED]: true,
    lastLevel: 0,
    flushSync: flush,
    write(line) {
      if (held === '' && hasTurns) setImmediate(flush)
      held += line
      if (!hasTurns || this.lastLevel >= URGENT_LEVEL || held.length > MOST_HELD) flush()
    },
  }
}
