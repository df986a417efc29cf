import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http'
import type { Attack } from './hostile-requests.ts'

/** Result of an attack. */
export interface Outcome {
  readonly app: string
  readonly attack: Attack
  /** Null when the connection ended without an answer. */
  readonly status: number | null
  /** The code of a problem, or the reason for a missing answer. */
  readonly code: string
  /** Times in milliseconds on the clock that all threads share. */
  readonly began: number
  readonly ended: number
}

const PATIENCE_MS = 40_000
/** Maximum bytes of an answer that are read, because event streams do not end. */
const READ_BYTES = 256 * 1024

/** Sends an attack and reads the beginning of the answer. */
export async function fire(
  app: { readonly name: string; readonly url: string },
  attack: Attack,
  headers: Readonly<Record<string, string>>,
  agent: Agent,
): Promise<Outcome> {
  const began = performance.timeOrigin + performance.now()
  const done = (status: number | null, code: string): Outcome => {
    return { app: app.name, attack, status, code, began, ended: performance.timeOrigin + performance.now() }
  }
  let answer = await send(app.url, attack, headers, agent)
  // A connection may break or stall on a busy machine. An attack counts as unanswered when every attempt fails.
  for (let again = 0; again < 2 && 'failed' in answer; again++) answer = await send(app.url, attack, headers, false)
  if ('failed' in answer) return done(null, answer.failed)
  return done(answer.status, answer.code)
}

type Answer = { readonly status: number; readonly code: string } | { readonly failed: string }

function send(
  base: string,
  { method, path, headers, body, drips }: Attack,
  credentials: Readonly<Record<string, string>>,
  agent: Agent | false,
): Promise<Answer> {
  const { hostname, port } = new URL(base)
  const { promise, resolve } = Promise.withResolvers<Answer>()
  const sent: Record<string, string | string[]> = { ...credentials, ...headers }
  if (body !== null) {
    if (body.type !== null) sent['content-type'] ??= body.type
    if (sent['transfer-encoding'] === undefined) sent['content-length'] = String(drips ? 1_000_000 : body.bytes.length)
  }
  const request = httpRequest({ hostname, port, method, path, headers: sent, agent, timeout: PATIENCE_MS })
  request.once('response', (response) => void read(response, request.destroy.bind(request)).then(resolve))
  request.once('timeout', () => {
    resolve({ failed: 'no answer in time' })
    request.destroy()
  })
  request.on('error', (error: NodeJS.ErrnoException) => {
    const { code = error.message } = error
    resolve({ failed: code })
  })
  request.once('upgrade', (_, socket) => {
    socket.destroy()
    resolve({ status: 101, code: 'UPGRADED' })
  })
  if (!drips) request.end(body?.bytes)
  else {
    const timer = setInterval(() => request.write('x'), 1000)
    request.once('close', () => clearInterval(timer))
  }
  return promise
}

async function read(response: IncomingMessage, stop: () => void): Promise<Answer> {
  const status = response.statusCode!
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let text = ''
  const isStream = String(response.headers['content-type']).includes('event-stream')
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    if (text.length > READ_BYTES || isStream) {
      resolve()
      stop()
    }
  })
  for (const event of ['end', 'error', 'close']) response.once(event, resolve)
  await ended
  const [, code = ''] = /"(?:code|error_code)":"?(\w+)/.exec(text) ?? []
  return { status, code }
}
