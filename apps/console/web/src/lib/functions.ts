import { get, projectPath, request, send } from './api.ts'

/** A function that is deployed with the project. */
export interface FunctionSummary {
  readonly name: string
  /** 0 for a function of a watched folder. */
  readonly version: number
  readonly digest: string
  readonly bytes: number
  /** Null while no version has been served. */
  readonly policy: Policy | null
  /** Build or start error of the newest code, which is therefore not served. */
  readonly problem: { readonly code: string; readonly message: string; readonly details: string | null } | null
  readonly created_by: string
  readonly created_at: string | null
}

/** Access rules and permissions of a function. */
export interface Policy {
  readonly auth: 'none' | 'anon' | 'user' | 'service'
  readonly methods: readonly string[]
  readonly description: string
  readonly timeout_ms: number
  readonly memory_mb: number
  readonly privileged: boolean | 'key'
  readonly net: readonly string[]
}

/** A version that was deployed. */
export interface Version {
  readonly version: number
  readonly digest: string
  readonly bytes: number
  readonly created_by: string
  readonly created_at: string | null
  readonly live: boolean
}

export interface Call {
  readonly method: string
  /** Path after the name of the function. */
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
  /** Origin of the message: the host, or the function itself. */
  readonly source: 'host' | 'function'
  readonly message: string
  readonly request_id: string | null
  readonly fields?: Readonly<Record<string, unknown>>
}

export async function readFunctions(ref: string, signal?: AbortSignal): Promise<readonly FunctionSummary[]> {
  const { data } = await get<{ data: FunctionSummary[] }>(projectPath(ref, '/functions'), signal)
  return data.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

export function callFunction(ref: string, name: string, call: Call): Promise<Answer> {
  return request('POST', `${pathOf(ref, name)}/call`, call)
}

/** Newest first. */
export async function readVersions(ref: string, name: string, signal?: AbortSignal): Promise<readonly Version[]> {
  const path = `${pathOf(ref, name)}/versions`
  const { data } = await get<{ data: Version[] }>(path, signal)
  return data.toSorted((a, b) => b.version - a.version)
}

/** Calls of a function in one minute, on the host that answers. */
export interface Minute {
  readonly time: string
  readonly calls: number
  readonly errors: number
  /** Null without a call. */
  readonly p95_ms: number | null
  readonly cpu_s: number
  readonly memory_mb: number
}

/** The last 60 minutes, oldest first. */
export async function readMinutes(ref: string, name: string, signal?: AbortSignal): Promise<readonly Minute[]> {
  return (await get<{ data: Minute[] }>(`${pathOf(ref, name)}/minutes`, signal)).data
}

/** Makes an earlier version live again. */
export function rollBack(ref: string, name: string, version: number): Promise<unknown> {
  return request('POST', `${pathOf(ref, name)}/rollback`, { version })
}

/** Removes a function with its versions and secrets. */
export function removeFunction(ref: string, name: string): Promise<void> {
  return request('DELETE', pathOf(ref, name))
}

/** Deploys the files of a folder, with their paths relative to it. */
export function deployFunction(
  ref: string,
  name: string,
  files: Readonly<Record<string, { readonly base64: string }>>,
): Promise<{ readonly version: number; readonly unchanged: boolean }> {
  return request('PUT', pathOf(ref, name), { files })
}

/** The latest entries that contain a text, oldest first. @param search empty: all */
export async function readLog(
  ref: string,
  name: string,
  search: string,
  signal?: AbortSignal,
): Promise<readonly LogEntry[]> {
  const query = new URLSearchParams({ limit: '200', ...(search !== '' && { search }) })
  const text = await (await send('GET', `${pathOf(ref, name)}/logs?${String(query)}`, undefined, signal)).text()
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as LogEntry)
}

function pathOf(ref: string, name: string): string {
  return projectPath(ref, `/functions/${encodeURIComponent(name)}`)
}
