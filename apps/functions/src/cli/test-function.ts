import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { cliFailed } from '../errors.ts'
import type { LogEntry } from '../observe/log-book.ts'
import { readLines, type Print, type Target } from './client.ts'
import { printed } from './shown-entry.ts'

/** The test request. These options override the values of the file that `request` names. */
export interface TestOptions {
  /** JSON file with `method`, `path`, `headers` and `body`. */
  readonly request?: string | undefined
  readonly method?: string | undefined
  /** Rest of the path and the query, e.g. `/items?limit=1`. */
  readonly path?: string | undefined
  /** `Name: value`. */
  readonly header: readonly string[]
  readonly body?: string | undefined
  /** Role whose key is sent. */
  readonly as: string
  /** The status that the answer must have; any below 400 unless given. */
  readonly status?: string | undefined
  readonly env: NodeJS.ProcessEnv
  readonly print: Print
}

interface RequestFile {
  readonly method?: string
  readonly path?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

const LOG_WAIT_MS = 200
const MAX_LOG_READS = 10

/**
 * Sends one request to a function and prints status, headers, body, and the lines of its log.
 *
 * @throws CLI_FAILED when the answer has another status than `--status`
 */
export async function testFunction(target: Target, name: string, options: TestOptions): Promise<void> {
  const { print } = options
  const wanted = wantedStatus(options.status)
  const file = options.request === undefined ? {} : await readRequest(options.request)
  const body =
    options.body ?? (file.body === undefined || typeof file.body === 'string' ? file.body : JSON.stringify(file.body))
  const method = options.method ?? file.method ?? (body === undefined ? 'GET' : 'POST')
  const requestId = randomUUID()
  const headers = new Headers({
    ...keyOf(options, target),
    ...(isJson(body) && { 'content-type': 'application/json' }),
  })
  for (const [key, value] of Object.entries(file.headers ?? {})) headers.set(key, value)
  for (const line of options.header) {
    const colon = line.indexOf(':')
    if (colon < 1) throw cliFailed({ reason: `--header takes 'Name: value', not '${line}'` })
    headers.set(line.slice(0, colon), line.slice(colon + 1).trim())
  }
  headers.set('x-request-id', requestId)
  const path = options.path ?? file.path ?? ''
  if (!/^([/?]|$)/.test(path)) throw cliFailed({ reason: `the path begins with / or ?, not '${path}'` })
  const url = `${target.url.replace(/\/$/, '')}/functions/v1/${name}${path}`
  const begun = performance.now()
  const response = await fetch(url, { method, headers, redirect: 'manual', ...(body !== undefined && { body }) }).catch(
    (error: unknown) => {
      throw cliFailed({ reason: `${url} cannot be asked: ${String((error as Error).cause ?? error)}` })
    },
  )
  const text = await response.text()
  print(`${method} ${url}`)
  print(`${response.status} ${response.statusText}  ${Math.round(performance.now() - begun)} ms`)
  for (const [key, value] of response.headers) print(`${key}: ${value}`)
  if (text !== '') print(`\n${text}`)
  const entries = await logOf(target, name, requestId)
  if (entries.length > 0) print('')
  for (const entry of entries) print(printed(entry))
  if (wanted === null ? response.status >= 400 : response.status !== wanted)
    throw cliFailed({ reason: `${name} answered ${response.status}${wanted === null ? '' : `, not ${wanted}`}` })
}

function wantedStatus(status: string | undefined): number | null {
  if (status === undefined) return null
  if (!/^[1-5]\d\d$/.test(status)) throw cliFailed({ reason: `--status takes 100 to 599, not '${status}'` })
  return Number(status)
}

/** The log of a request. Lines of the function may come after its answer. */
async function logOf(target: Target, name: string, requestId: string): Promise<LogEntry[]> {
  let entries: LogEntry[] = []
  for (let read = 0; read < MAX_LOG_READS; read++) {
    const query = `request_id=${requestId}&limit=1000`
    const lines = await Array.fromAsync(
      readLines(target, `/functions/${name}/logs?${query}`, AbortSignal.timeout(10_000)),
    )
    const isSame = lines.length > 0 && lines.length === entries.length
    entries = lines.map((line) => JSON.parse(line) as LogEntry)
    if (isSame) break
    await wait(LOG_WAIT_MS)
  }
  return entries
}

async function readRequest(path: string): Promise<RequestFile> {
  const text = await readFile(path, 'utf8').catch(() => {
    throw cliFailed({ reason: `${path} cannot be read` })
  })
  try {
    const file: unknown = JSON.parse(text)
    if (file !== null && typeof file === 'object' && !Array.isArray(file)) return file
  } catch {
    // The error is thrown below.
  }
  throw cliFailed({ reason: `${path} has no JSON object with method, path, headers and body` })
}

function keyOf({ as, env }: TestOptions, target: Target): Record<string, string> {
  if (as === 'none') return {}
  const key = as === 'service' ? target.key : as === 'anon' ? env['TERRANE_ANON_KEY'] : undefined
  if (as !== 'service' && as !== 'anon') throw cliFailed({ reason: '--as takes anon, service or none' })
  if (!key)
    throw cliFailed({
      reason: 'TERRANE_ANON_KEY is not set: set it (terrane env), or choose --as service or --as none',
    })
  return { apikey: key, authorization: `Bearer ${key}` }
}

function isJson(body: string | undefined): boolean {
  if (body === undefined) return false
  try {
    JSON.parse(body)
    return true
  } catch {
    return false
  }
}
