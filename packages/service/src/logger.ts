import { pino, type Logger } from 'pino'
import pretty from 'pino-pretty'

export type { Logger }

/** Field names whose values never reach a log, at the top and one level down. */
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

/**
 * Makes a process's logger: JSON lines, or readable ones when stdout is a terminal or `format` says so. The message is a
 * constant phrase; data goes into fields with units.
 */
export function createLogger(options: { name: string; level: string; format?: 'json' | 'pretty' }): Logger {
  const format = options.format ?? (process.stdout.isTTY ? 'pretty' : 'json')
  const settings = {
    name: options.name,
    level: options.level,
    base: { name: options.name },
    redact: { paths: SECRET_FIELDS.flatMap((f) => [f, `*.${f}`, `*.*.${f}`]), censor: '[redacted]' },
  }
  if (format === 'json') return pino(settings)
  return pino(
    settings,
    pretty({ colorize: process.stdout.isTTY, ignore: 'pid,hostname', translateTime: 'HH:MM:ss.l', sync: true }),
  )
}
