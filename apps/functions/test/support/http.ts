import { get } from 'node:http'
import { connect } from 'node:net'
import { text as textOf } from 'node:stream/consumers'

/** Sends raw bytes over TCP and returns those received until the peer closed or the time was up. */
export function rawExchange(
  port: number,
  send: (write: (text: string) => void) => void,
  waitMs: number,
): Promise<{ readonly text: string; readonly closed: boolean }> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    let text = ''
    const timer = setTimeout(() => finish(false), waitMs)
    const finish = (closed: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve({ text, closed })
    }
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
    socket.on('error', () => {})
    socket.on('close', () => finish(true))
    socket.on('connect', () => send((part) => socket.write(part)))
  })
}

/** Status, error code and body of an answer; a broken body is reported, not thrown. */
export async function outcome(
  response: Response,
): Promise<{ readonly status: number; readonly code: string | null; readonly body: string; readonly whole: boolean }> {
  const code = response.headers.get('x-error-code')
  const chunks: Buffer[] = []
  let whole = true
  try {
    for await (const chunk of response.body ?? []) chunks.push(Buffer.from(chunk))
  } catch {
    whole = false
  }
  return { status: response.status, code, body: Buffer.concat(chunks).toString('utf8'), whole }
}

/** The body of a GET whose Host header differs from the address; `fetch` cannot send that. */
export function getByHost(url: string, host: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, { headers: { host } }, (response) => void textOf(response).then(resolve, reject)).on('error', reject)
  })
}
