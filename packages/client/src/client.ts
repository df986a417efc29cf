import { TerraneProblem } from './errors.ts'
import { makeJobs, type Ask, type AskOptions, type JobsClient } from './jobs.ts'

/** Address of the worker, and the caller's key. */
export interface ClientOptions {
  /** Address of the worker, or of a project with `/worker`: `http://127.0.0.1:8000/worker`. */
  readonly url: string
  /** The service-role key of the project, or a services key. It has full access: use it on servers only. */
  readonly key: string
  /** The project, where the worker serves several. */
  readonly projectRef?: string
  /** Function that sends requests; default: the global `fetch`. */
  readonly fetch?: typeof fetch
}

/** Methods of a worker's client. */
export interface TerraneClient {
  readonly jobs: JobsClient
}

/** A client of a worker. Use it beside supabase-js, which serves the project's tables, files and searches. */
export function createClient(options: ClientOptions): TerraneClient {
  const base = options.url.endsWith('/') ? options.url.slice(0, -1) : options.url
  // Makes one request below the address of the worker; a refusal is a TerraneProblem.
  const ask: Ask = async (method, path, { query = {}, body, headers, signal } = {}) => {
    const url = new URL(base + path)
    // A request that has a body names the project there.
    const parameters: NonNullable<AskOptions['query']> = {
      projectRef: body === undefined ? options.projectRef : undefined,
      ...query,
    }
    for (const [name, value] of Object.entries(parameters))
      if (value !== undefined) url.searchParams.set(name, String(value))
    const response = await (options.fetch ?? fetch)(url, {
      method,
      headers: {
        apikey: options.key,
        authorization: `Bearer ${options.key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const text = await response.text()
    if (!response.ok) throw new TerraneProblem(response.status, problemIn(text))
    return JSON.parse(text) as unknown
  }
  return { jobs: makeJobs(ask, options.projectRef) }
}

function problemIn(text: string): object {
  try {
    return JSON.parse(text) as object
  } catch {
    return { message: text.slice(0, 500) }
  }
}
