import { request as requestHttp, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { onWebSocket, switchingHead, type Http, type Upgrade } from '@terrane/service'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** The answer of a service to a WebSocket request: an upgrade or a refusal. */
type Agreed = {
  readonly answer: IncomingMessage
  readonly far: { readonly socket: Socket; readonly head: Buffer } | null
}

/** Maximum wait for the service's answer, because a function may have to start first. */
const ANSWER_MS = 600_000

/**
 * Proxies WebSockets below a path to a service, as bytes: each end is read no faster than the other accepts data. The
 * service decides who may open one, and limits its idle time and message sizes.
 */
export class WebSockets {
  readonly #upstream: URL
  readonly #asked = new WeakMap<IncomingMessage, Upgrade>()
  readonly #open = new Set<Socket>()

  /** @param prefix path with its slash at the end */
  constructor(app: Http, prefix: string, upstream: string) {
    this.#upstream = new URL(upstream)
    // The request runs through all hooks, like other requests.
    onWebSocket(app.server, prefix, (request, response, upgrade) => {
      this.#asked.set(request, upgrade)
      app.routing(request, response)
    })
    app.addHook('preClose', async () => {
      for (const socket of this.#open) socket.destroy()
    })
  }

  /** Whether a request asks for a WebSocket. */
  has({ raw }: FastifyRequest): boolean {
    return this.#asked.has(raw)
  }

  /**
   * Sends the request to the service with these headers. If the service accepts, the connections are joined and null is
   * returned; otherwise its answer.
   *
   * @param keeps whether a header of its answer is passed on
   * @throws the error of the connection to the service
   */
  async pass(
    request: FastifyRequest,
    reply: FastifyReply,
    headers: OutgoingHttpHeaders,
    keeps: (name: string) => boolean,
  ): Promise<IncomingMessage | null> {
    const near = this.#asked.get(request.raw)!
    const { answer, far } = await this.#ask(request.raw.url!, headers, near.socket)
    if (!far) return answer
    reply.hijack()
    this.#join(near, far, switchingHead(keptHeaders(answer.rawHeaders, keeps)))
    return null
  }

  async #ask(path: string, headers: OutgoingHttpHeaders, caller: Socket): Promise<Agreed> {
    const ask = this.#upstream.protocol === 'https:' ? requestHttps : requestHttp
    const asking = ask(new URL(path, this.#upstream), {
      headers: { ...headers, connection: 'Upgrade', upgrade: 'websocket' },
      agent: false,
      timeout: ANSWER_MS,
    })
    const stop = () => asking.destroy()
    caller.once('close', stop)
    asking.once('timeout', () => asking.destroy(new Error('it does not answer')))
    try {
      return await new Promise<Agreed>((resolve, reject) => {
        asking.once('error', reject)
        asking.once('response', (answer) => resolve({ answer, far: null }))
        asking.once('upgrade', (answer, socket: Socket, head) => resolve({ answer, far: { socket, head } }))
        asking.end()
      })
    } finally {
      caller.off('close', stop)
    }
  }

  #join(near: Upgrade, far: Upgrade, head: string): void {
    for (const { socket } of [near, far]) {
      this.#open.add(socket)
      socket.once('close', () => this.#open.delete(socket))
      socket.setTimeout(0)
      socket.setNoDelay(true)
    }
    near.socket.write(head, 'latin1')
    if (far.head.length > 0) near.socket.write(far.head)
    if (near.head.length > 0) far.socket.write(near.head)
    const end = () => {
      near.socket.destroySoon()
      far.socket.destroySoon()
    }
    pipeline(far.socket, near.socket, end)
    pipeline(near.socket, far.socket, end)
  }
}

/** The headers of an accepting answer, without those of the connection. @param raw alternating names and values */
function keptHeaders(raw: readonly string[], keeps: (name: string) => boolean): string[] {
  const kept: string[] = []
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    if (name !== 'connection' && name !== 'upgrade' && keeps(name)) kept.push(name, raw[i + 1]!)
  }
  return kept
}
