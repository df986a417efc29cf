import { projectPath, request, send } from './api.ts'

/** A function that is deployed with the project. */
export interface FunctionShown {
  readonly name: string
  /** 0 for a function of a watched folder. */
  readonly version: number
  readonly digest: string
  readonly bytes: number
  readonly policy: {
    readonly auth: 'none' | 'anon' | 'user' | 'service'
    readonly methods: readonly string[]
    readonly description: string
    readonly timeout_ms: number
    readonly memory_mb: number
    readonly privileged: boolean
    readonly net: readonly string[]
  }
  readonly created_by: string
  readonly created_at: string | null
}

export interface Call {
  readonly method: string
  /** What comes after the name of the function. */
  readonly path: string
  readonly query: string
  readonly body?: string
  readonly role: 'anon' | 'service'
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly truncated: boolean
  readonly bytes: number
  readonly ms: number
}

export interface LogEntry {
  readonly time: string
  readonly level: string
  /** Who says it: the host, or the function itself. */
  readonly source: 'host' | 'function'
  readonly message: string
  readonly request_id: string | null
  readonly fields?: Readonly<Record<string, unknown>>
}

export async function readFunctions(ref: string, signal?: AbortSignal): Promise<readonly FunctionShown[]> {
  const { data } = await request<{ data: FunctionShown[] }>('GET', projectPath(ref, '/functions'), undefined, signal)
  return data.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export function callFunction(ref: string, name: string, call: Call): Promise<Answer> {
  return request('POST', projectPath(ref, `/functions/${encodeURIComponent(name)}/call`), call)
}

/** The latest entries, oldest first. */
export async function readLog(ref: string, name: string, signal?: AbortSignal): Promise<readonly LogEntry[]> {
  const path = projectPath(ref, `/functions/${encodeURIComponent(name)}/logs?limit=200`)
  const text = await (await send('GET', path, undefined, signal)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEntry)
}
