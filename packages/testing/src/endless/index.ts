import { createServer, get, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server whose answers have no end. */
export interface EndlessServer extends AsyncDisposable {
  readonly url: string
  /** Bytes that callers have taken of all answers, including those in buffers of the system. */
  sent(): number
  /** Waits until no answer is being sent any more, because all clients have disconnected. */
  quiet(): Promise<void>
}

const CHUNK = Buffer.alloc(65_536, '[1,{"a":')

/** Starts a server on loopback that begins each answer by `head` and sends until the caller disconnects. */
export async function startEndless(
  head: (request: IncomingMessage) => { readonly status?: number; readonly headers?: OutgoingHttpHeaders } = () => ({}),
): Promise<EndlessServer> {
  let sent = 0
  const open = new Set<unknown>()
  const server = createServer((request, response) => {
    const { status = 200, headers = {} } = head(request)
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    open.add(response)
    response.once('close', () => open.delete(response))
    const more = () => {
      while (!response.destroyed) {
        sent += CHUNK.length
        if (!response.write(CHUNK)) return void response.once('drain', more)
      }
    }
    more()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    async quiet() {
      while (open.size > 0) await new Promise((resolve) => setTimeout(resolve, 10))
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Consecutive checks without progress after which all bytes count as taken. */
const STILL = 5

/**
 * Requests a URL behind which the server is, e.g. through a proxy, and reads nothing of the answer. It disconnects when
 * no more bytes are taken from the server, and waits until a proxy has closed its connection to the server. Returns the
 * bytes that were taken.
 */
export async function takesWhileUnread(
  server: EndlessServer,
  url: string,
  headers: OutgoingHttpHeaders = {},
): Promise<number> {
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    get(url, { headers, agent: false }, resolve).on('error', reject)
  })
  let taken = server.sent()
  for (let still = 0; still < STILL;) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    still = server.sent() === taken ? still + 1 : 0
    taken = server.sent()
  }
  answer.destroy()
  await server.quiet()
  return taken
}
