import type {
  ClientRequest,
  IncomingHttpHeaders,
  IncomingMessage,
  OutgoingHttpHeaders,
  ServerResponse,
} from 'node:http'
import { pipeline } from 'node:stream'

const HOP_BY_HOP: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** Headers that are forwarded: without those of the connection, and without those between host and shim. */
export function passable(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !name.startsWith('x-terrane-'))
  return Object.fromEntries(kept)
}

/** Sends a request to another host and streams the answer back. `failed` answers when the host does not. */
export function forward(
  request: IncomingMessage,
  response: ServerResponse,
  upstream: ClientRequest,
  failed: (error: Error) => void,
): void {
  upstream.once('response', (answer) => {
    response.writeHead(answer.statusCode ?? 502, passable(answer.headers))
    pipeline(answer, response, ignore)
  })
  upstream.once('error', (error) => {
    if (response.headersSent) response.destroy()
    else failed(error)
  })
  upstream.on('error', ignore)
  response.once('close', () => upstream.destroy())
  pipeline(request, upstream, ignore)
}

function ignore(): void {}
