import type { LogEntry } from '../observe/log-book.ts'

/** An entry of a log as one line; `|` marks lines that the function has written. */
export function printed({ time, level, source, message, version, request_id: id, fields }: LogEntry): string {
  const facts = Object.entries(fields ?? {}).map(([name, value]) => `${name}=${JSON.stringify(value)}`)
  const who = source === 'function' ? '|' : '-'
  return [time, level.padEnd(5), `v${version}`, id ?? '-', who, message, ...facts].join(' ')
}
