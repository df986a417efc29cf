import type { Logger } from '@terrane/service'
import type { FunctionLine } from '../pool/output.ts'

/** One entry of a function's log: what the host saw, or what the function wrote. */
export interface LogEntry {
  readonly time: string
  readonly level: string
  /** `function` lines are the function's word; everything else in them is the host's. */
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

const KEPT = 1000

/**
 * The log of every function: each entry goes to the process's log, and the latest ones stay here for those who ask.
 * Lines of functions are marked as untrusted, and can only be attributed to requests that the instance really has.
 */
export class LogBook {
  private readonly logger: Logger
  private readonly entries = new Map<string, LogEntry[]>()
  private readonly followers = new Map<string, Set<(entry: LogEntry | null) => void>>()

  constructor(logger: Logger) {
    // What is logged here is made of known fields; looking for secrets in each line would cost more than the call.
    this.logger = logger.child({}, { redact: [] })
  }

  /** What the host has to say about a function. */
  event(
    level: 'info' | 'warn' | 'error',
    subject: Subject,
    message: string,
    fields: Readonly<Record<string, unknown>> = {},
    requestId: string | null = null,
  ): void {
    const { project, name, version } = subject
    this.logger[level]({ project, function: name, version, requestId: requestId ?? undefined, ...fields }, message)
    this.keep({ ...head(subject, level, message, requestId), source: 'host', fields })
  }

  line(subject: Subject, line: FunctionLine, requestId: string | null): void {
    const { project, name, version } = subject
    const { level, text, dropped } = line
    const fields = { project, function: name, version, requestId: requestId ?? undefined, untrusted: true, text }
    this.logger[level](dropped > 0 ? { ...fields, dropped } : fields, 'function line')
    this.keep({
      ...head(subject, level, text, requestId),
      source: 'function',
      ...(dropped > 0 && { fields: { dropped } }),
    })
  }

  /** The latest entries of a function, oldest first. */
  latest(project: string, name: string, limit: number): readonly LogEntry[] {
    return (this.entries.get(`${project}/${name}`) ?? []).slice(-limit)
  }

  /** Calls back for each new entry, and with null at the end, until the returned function is called. */
  follow(project: string, name: string, onEntry: (entry: LogEntry | null) => void): () => void {
    const key = `${project}/${name}`
    const followers = this.followers.get(key) ?? new Set()
    this.followers.set(key, followers.add(onEntry))
    return () => {
      followers.delete(onEntry)
      if (followers.size === 0 && this.followers.get(key) === followers) this.followers.delete(key)
    }
  }

  /** Tells every follower that nothing more will come. */
  close(): void {
    for (const followers of this.followers.values()) for (const follower of followers) follower(null)
  }

  private keep(entry: LogEntry): void {
    const key = `${entry.project}/${entry.function}`
    const entries = this.entries.get(key) ?? []
    if (entries.length === 0) this.entries.set(key, entries)
    entries.push(entry)
    if (entries.length >= 2 * KEPT) entries.splice(0, entries.length - KEPT)
    for (const follower of this.followers.get(key) ?? []) follower(entry)
  }
}

function head({ project, name, version }: Subject, level: string, message: string, requestId: string | null) {
  const time = new Date().toISOString()
  return { time, level, message, project, function: name, version, request_id: requestId }
}
