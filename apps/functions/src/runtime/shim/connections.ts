// Servers before `Deno.serve`: `Deno.listen`, `Deno.serveHttp` and a loop over requests. Old versions of deno.land/std
// and of oak use them, and many functions pin those versions.

type Answer = (request: Request) => Promise<Response>

/** Functions of Deno that are replaced. */
export interface DenoListening {
  listen: unknown
  listenTls: unknown
  serveHttp: unknown
}

interface RequestEvent {
  readonly request: Request
  respondWith(response: Response | Promise<Response>): Promise<void>
}

const ADDRESS = { transport: 'tcp', hostname: '127.0.0.1', port: 8000 }
const RAW = 'a function has no connections of its own: it answers HTTP, by Deno.serve or Deno.serveHttp'

/**
 * Gives the only listener a single connection that carries every request.
 *
 * @param offer registers the answering function; throws once the function has started
 */
export function serveConnections(deno: DenoListening, offer: (answer: Answer) => void): void {
  const requests = new Requests()
  const nextRequest = () => requests.next()
  let accepted = false
  const listen = (options: { port?: number; hostname?: string; transport?: string } = {}) => {
    if (options.transport !== undefined && options.transport !== 'tcp') throw new Error(RAW)
    const closed = Promise.withResolvers<never>()
    closed.promise.catch(() => {})
    const accept = () => {
      if (accepted) return closed.promise
      accepted = true
      return Promise.resolve(connection())
    }
    const close = () => closed.reject(new Error('the listener is closed'))
    const addr = { ...ADDRESS, ...(options.port ? { port: options.port } : {}) }
    const members = { addr, rid: 0, accept, close, ref() {}, unref() {}, [Symbol.dispose]: close }
    return { ...members, [Symbol.asyncIterator]: () => repeated(accept) }
  }
  const serveHttp = () => {
    offer((request) => requests.ask(request))
    return { rid: 0, nextRequest, close() {}, [Symbol.asyncIterator]: () => repeated(nextRequest) }
  }
  for (const [name, value] of Object.entries({ listen, listenTls: listen, serveHttp }))
    Object.defineProperty(deno, name, { value, configurable: true, writable: true })
}

/** Queue between requests and the loop that takes them. */
class Requests {
  readonly #events: RequestEvent[] = []
  #waiting: ((event: RequestEvent) => void) | null = null

  ask(request: Request): Promise<Response> {
    const answered = Promise.withResolvers<Response>()
    const event: RequestEvent = {
      request,
      async respondWith(response) {
        try {
          answered.resolve(await response)
        } catch (error) {
          answered.reject(error)
        }
      },
    }
    if (this.#waiting) this.#waiting(event)
    else this.#events.push(event)
    this.#waiting = null
    return answered.promise
  }

  next(): Promise<RequestEvent> {
    const event = this.#events.shift()
    return event ? Promise.resolve(event) : new Promise((resolve) => (this.#waiting = resolve))
  }
}

const refuse = () => Promise.reject(new Error(RAW))

function connection(): object {
  const members = { rid: 0, localAddr: ADDRESS, remoteAddr: ADDRESS, read: refuse, write: refuse, close() {} }
  return { ...members, closeWrite: refuse, ref() {}, unref() {}, [Symbol.dispose]() {} }
}

async function* repeated<T>(next: () => Promise<T>): AsyncGenerator<T> {
  for (;;) yield await next()
}
