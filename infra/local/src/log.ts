import { styleText } from 'node:util'

const COLORS = ['cyan', 'magenta', 'yellow', 'green', 'blue'] as const
const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
}

/** Fields of a log line that are not useful here. */
const HIDDEN: ReadonlySet<string> = new Set(['level', 'time', 'name', 'msg', 'pid', 'hostname', 'reqId', 'v'])

const seen: string[] = []

/** Prints a line of an app with its name. JSON lines are formatted; other lines are printed unchanged. */
export function printLine(app: string, line: string): void {
  if (line.trim() === '') return
  if (!seen.includes(app)) seen.push(app)
  const color = COLORS[seen.indexOf(app) % COLORS.length] ?? 'cyan'
  // The terminal's current line may contain a progress bar.
  const clear = process.stdout.isTTY ? '\r\u001b[K' : ''
  process.stdout.write(`${clear}${styleText(color, app.padEnd(9))} ${readable(line)}\n`)
}

/** Prints a line of the stack itself. */
export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

function readable(line: string): string {
  if (!line.startsWith('{')) return line
  try {
    const record = JSON.parse(line) as Record<string, unknown>
    const time = new Date(Number(record['time'])).toISOString().slice(11, 19)
    const level = LEVELS[Number(record['level'])] ?? ''
    const fields = Object.entries(record).filter(([name]) => !HIDDEN.has(name))
    const text = fields.map(([name, value]) => `${name}=${show(value)}`).join(' ')
    const colored =
      level === 'WARN'
        ? styleText('yellow', level)
        : level === 'ERROR' || level === 'FATAL'
          ? styleText('red', level)
          : level
    return `${time} ${colored.padEnd(5)} ${typeof record['msg'] === 'string' ? record['msg'] : ''} ${styleText('dim', text)}`.trimEnd()
  } catch {
    return line
  }
}

function show(value: unknown): string {
  if (value !== null && typeof value === 'object' && 'stack' in value) return String(value.stack)
  return typeof value === 'string' && !value.includes(' ') ? value : JSON.stringify(value)
}
