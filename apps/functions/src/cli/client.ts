import { cliFailed } from '../errors.ts'

/** Writes a line for the user. */
export type Print = (line: string) => void

/** Address of a host and the key for its deploy API. */
export interface Target {
  readonly url: string
  readonly project: string
  readonly key: string
}

/** Calls the deploy API of a host and returns its JSON answer. @throws CLI_FAILED with the host's message */
export async function callHost(target: Target, method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await request(target, { method, path, body })
  const text = await response.text()
  return text === '' ? null : (JSON.parse(text) as unknown)
}

/** The lines of an answer, as they arrive. @throws CLI_FAILED */
export async function* readLines(target: Target, path: string, signal: AbortSignal): AsyncGenerator<string> {
  const response = await request(target, { method: 'GET', path, signal })
  let held = ''
  for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
    const lines = (held + chunk).split('\n')
    held = lines.pop()!
    yield* lines
  }
}

interface HostRequest {
  readonly method: string
  readonly path: string
  /** Sent as JSON. */
  readonly body?: unknown
  readonly signal?: AbortSignal
}

async function request({ url, project, key }: Target, { method, path, body, signal }: HostRequest): Promise<Response> {
  const address = `${url.replace(/\/$/, '')}/v1/projects/${encodeURIComponent(project)}${path}`
  let response: Response
  try {
    response = await fetch(address, {
      method,
      headers: { apikey: key, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  } catch (error) {
    const cause = (error as Error).cause as { code?: string } | undefined
    throw cliFailed({ reason: `no functions host answers at ${url} (${cause?.code ?? (error as Error).message})` })
  }
  if (response.ok) return response
  const text = await response.text()
  const problem = (text.startsWith('{') ? JSON.parse(text) : {}) as {
    message?: string
    details?: string
    hint?: string
  }
  throw cliFailed(
    { reason: problem.message ?? `the host answered ${response.status}` },
    { ...(problem.details && { details: problem.details }), ...(problem.hint && { hint: problem.hint }) },
  )
}
