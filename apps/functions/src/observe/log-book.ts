import type { Logger } from '@terrane/service'
import type { FunctionLine } from '../pool/output.ts'
import { CallRing, type CallFacts, type LoggedCall } from './call-ring.ts'

/** One entry of a function's log: an event that the host recorded, or a line that the function wrote. */
export interface LogEntry {
  readonly time: string
  readonly level: string
  /** `function` messages are written by the function. All other fields are the host's. */
  readonly source: 'host' | 'function'
  readonly message: string
  readonly project: string
  readonly function: string
  readonly version: number
  readonly request_id: string | null
  readonly fields?: Readonly<Record<string, unknown>>
}

/** The function of an entry. */
export interface Subject {
  readonly project: string
  readonly name: string
  readonly version: number
}

/** Selects entries of a log. */
export interface LogFilter {
  /** Text that the message or a field contains, ignoring case. */
  readonly search?: string
  readonly level?: string
  /** Only entries of this request. */
  readonly requestId?: string
}

/** Limits per function: number of calls and of other entries, and characters of text. */
const KEPT_ENTRIES = 1000
const KEPT_CHARS = 1024 * 1024

interface Shelf {
  readonly project: string
  readonly function: string
  readonly calls: CallRing
  readonly others: { readonly order: number; readonly entry: LogEntry }[]
  readonly followers: Set<(entry: LogEntry | null) => void>
  chars: number
  /** Number of entries so far. */
  count: number
}

/**
 * The log of every function: each entry goes to the process's log, and the latest ones are kept here for readers. Lines
 * of functions are marked as untrusted, and can only be attributed to requests that the instance really has.
 */
export class LogBook {
  readonly #logger: Logger
  readonly #shelves = new Map<string, Map<string, Shelf>>()

  constructor(logger: Logger) {
    // Only known fields are logged here. Searching each line for secrets would cost more than the call.
    this.#logger = logger.child({}, { redact: [] })
  }

  /** Logs an event of the host about a function. */
  event(
    level: 'info' | 'warn' | 'error',
    subject: Subject,
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
    requestId: string | null = null,
  ): void {
    const { project, name, version } = subject
    this.#logger[level]({ project, function: name, version, requestId: requestId ?? undefined, ...fields }, message)
    this.#keep({ ...head(subject, level, message, requestId), source: 'host', fields })
  }

  line(subject: Subject, line: FunctionLine, requestId: string | null): void {
    const { project, name, version } = subject
    const { level, text, dropped } = line
    const fields = { project, function: name, version, requestId: requestId ?? undefined, untrusted: true, text }
    this.#logger[level](dropped > 0 ? { ...fields, dropped } : fields, 'function line')
    this.#keep({
      ...head(subject, level, text, requestId),
      source: 'function',
      ...(dropped > 0 && { fields: { dropped } }),
    })
  }

  /** Logs a call that has ended. */
  call(subject: Subject, call: CallFacts): void {
    const { project, name, version } = subject
    const { requestId, status, problem, ms, bytesIn, bytesOut } = call
    const fields = { project, function: name, version, requestId, status, ms, bytesIn, bytesOut }
    this.#logger.info(problem === '' ? fields : { ...fields, problem }, 'call')
    const shelf = this.#shelf(project, name)
    const order = shelf.count++
    const time = Date.now()
    shelf.calls.add(order, time, call)
    if (shelf.followers.size > 0) tell(shelf, entryOf(shelf, { ...call, order, time }))
  }

  /** The latest entries of a function that the filter selects, oldest first. */
  latest(project: string, name: string, limit: number, filter: LogFilter = {}): readonly LogEntry[] {
    const shelf = this.#shelves.get(project)?.get(name)
    if (!shelf || limit === 0) return []
    const calls = Array.from(shelf.calls, (call) => ({ order: call.order, entry: entryOf(shelf, call) }))
    const all = [...calls, ...shelf.others].toSorted((a, b) => a.order - b.order).map(({ entry }) => entry)
    return all.filter((entry) => matches(entry, filter)).slice(-limit)
  }

  /** Calls back for each new entry, and with null at the end, until the returned function is called. */
  follow(project: string, name: string, onEntry: (entry: LogEntry | null) => void): () => void {
    const { followers } = this.#shelf(project, name)
    followers.add(onEntry)
    return () => followers.delete(onEntry)
  }

  /** Ends every follower's stream. */
  close(): void {
    for (const shelves of this.#shelves.values()) for (const shelf of shelves.values()) tell(shelf, null)
  }

  #keep(entry: LogEntry): void {
    const shelf = this.#shelf(entry.project, entry.function)
    shelf.others.push({ order: shelf.count++, entry })
    shelf.chars += entry.message.length
    if (shelf.others.length >= 2 * KEPT_ENTRIES || shelf.chars >= 2 * KEPT_CHARS) trim(shelf)
    tell(shelf, entry)
  }

  #shelf(project: string, name: string): Shelf {
    let shelves = this.#shelves.get(project)
    if (!shelves) this.#shelves.set(project, (shelves = new Map()))
    let shelf = shelves.get(name)
    if (!shelf) {
      const calls = new CallRing(KEPT_ENTRIES)
      shelf = { project, function: name, calls, others: [], followers: new Set(), chars: 0, count: 0 }
      shelves.set(name, shelf)
    }
    return shelf
  }
}

/** Whether a filter selects an entry. */
export function matches({ message, level, request_id: id, fields }: LogEntry, filter: LogFilter): boolean {
  if (filter.level !== undefined && level !== filter.level) return false
  if (filter.requestId !== undefined && id !== filter.requestId) return false
  if (filter.search === undefined) return true
  const text = fields ? `${message} ${JSON.stringify(fields)}` : message
  return text.toLowerCase().includes(filter.search.toLowerCase())
}

function tell({ followers }: Shelf, entry: LogEntry | null): void {
  for (const follower of followers) follower(entry)
}

function entryOf({ project, function: name }: Shelf, call: LoggedCall): LogEntry {
  const { version, requestId, status, problem, ms, bytesIn, bytesOut } = call
  return {
    ...head({ project, name, version }, 'info', 'call', requestId),
    time: new Date(call.time).toISOString(),
    source: 'host',
    fields: problem === '' ? { status, ms, bytesIn, bytesOut } : { status, problem, ms, bytesIn, bytesOut },
  }
}

function head({ project, name, version }: Subject, level: string, message: string, requestId: string | null) {
  const time = new Date().toISOString()
  return { time, level, message, project, function: name, version, request_id: requestId }
}

/** Drops the oldest entries down to the limits. It runs at twice the limits, so that it costs little per entry. */
function trim(shelf: Shelf): void {
  const { others } = shelf
  let keep = 0
  let chars = 0
  while (keep < Math.min(KEPT_ENTRIES, others.length)) {
    const size = others.at(-1 - keep)!.entry.message.length
    if (keep > 0 && chars + size > KEPT_CHARS) break
    chars += size
    keep++
  }
  others.splice(0, others.length - keep)
  shelf.chars = chars
}
