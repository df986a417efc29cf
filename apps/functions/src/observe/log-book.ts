import type { Logger } from '@terrane/service'
import type { FunctionLine } from '../pool/output.ts'

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

/** Which function an entry belongs to. */
export interface Subject {
  readonly project: string
  readonly name: string
  readonly version: number
}

/** Limits per function: number of entries, and characters of text. */
const KEPT_ENTRIES = 1000
const KEPT_CHARS = 1024 * 1024

interface Shelf {
  readonly entries: LogEntry[]
  chars: number
}

/**
 * The log of every function: each entry goes to the process's log, and the latest ones are kept here for readers. Lines
 * of functions are marked as untrusted, and can only be attributed to requests that the instance really has.
 */
export class LogBook {
  readonly #logger: Logger
  readonly #shelves = new Map<string, Shelf>()
  readonly #followers = new Map<string, Set<(entry: LogEntry | null) => void>>()

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

  /** The latest entries of a function, oldest first. */
  latest(project: string, name: string, limit: number): readonly LogEntry[] {
    return limit === 0 ? [] : (this.#shelves.get(`${project}/${name}`)?.entries.slice(-limit) ?? [])
  }

  /** Calls back for each new entry, and with null at the end, until the returned function is called. */
  follow(project: string, name: string, onEntry: (entry: LogEntry | null) => void): () => void {
    const key = `${project}/${name}`
    const followers = this.#followers.get(key) ?? new Set()
    this.#followers.set(key, followers.add(onEntry))
    return () => {
      followers.delete(onEntry)
      if (followers.size === 0 && this.#followers.get(key) === followers) this.#followers.delete(key)
    }
  }

  /** Ends every follower's stream. */
  close(): void {
    for (const followers of this.#followers.values()) for (const follower of followers) follower(null)
  }

  #keep(entry: LogEntry): void {
    const key = `${entry.project}/${entry.function}`
    const shelf = this.#shelves.get(key) ?? { entries: [], chars: 0 }
    if (shelf.entries.length === 0) this.#shelves.set(key, shelf)
    shelf.entries.push(entry)
    shelf.chars += entry.message.length
    if (shelf.entries.length >= 2 * KEPT_ENTRIES || shelf.chars >= 2 * KEPT_CHARS) trim(shelf)
    for (const follower of this.#followers.get(key) ?? []) follower(entry)
  }
}

function head({ project, name, version }: Subject, level: string, message: string, requestId: string | null) {
  const time = new Date().toISOString()
  return { time, level, message, project, function: name, version, request_id: requestId }
}

/** Drops the oldest entries, half at a time, so that it costs little per entry. */
function trim(shelf: Shelf): void {
  let keep = 0
  let chars = 0
  while (keep < Math.min(KEPT_ENTRIES, shelf.entries.length)) {
    const size = shelf.entries.at(-1 - keep)!.message.length
    if (keep > 0 && chars + size > KEPT_CHARS) break
    chars += size
    keep++
  }
  shelf.entries.splice(0, shelf.entries.length - keep)
  shelf.chars = chars
}
