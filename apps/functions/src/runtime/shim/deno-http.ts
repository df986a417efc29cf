import type { HttpHeaders, HttpOffer } from './core.ts'

/**
 * Parts of `node:http` that the shim uses. Loaded only where the bundle uses it, because loading takes some
 * milliseconds.
 */
interface NodeHttp {
  readonly Server: { readonly prototype: HttpServer }
}
interface HttpServer {
  listen: (this: HttpServer, ...args: unknown[]) => HttpServer
  address: (this: HttpServer) => unknown
  emit: (this: HttpServer, event: string, ...args: unknown[]) => boolean
  once(event: string, listener: () => void): unknown
}

interface Env {
  set(name: string, value: string): void
  delete(name: string): void
}

/** Deno's setting that moves the next server to another address. It is read when the server begins to listen. */
const ADDRESS = 'DENO_SERVE_ADDRESS'
const ONE_SERVER =
  'a function has one server, which listens while the module loads: put what a second one does into the first'

/**
 * Moves the first `node:http` server to the socket by which the function is reached, whatever port it asks for.
 *
 * @param done called once nothing may touch the socket any more
 */
export function moveHttpServer(
  http: NodeHttp,
  env: Env,
  path: string,
  around: (headers: HttpHeaders, handle: () => void) => void,
  done: () => void,
): HttpOffer {
  const { prototype } = http.Server
  const { listen, emit, address } = prototype
  const started = Promise.withResolvers<void>()
  const ports = new WeakMap<object, number>()
  let open = true
  prototype.listen = function (this: HttpServer, ...args: unknown[]) {
    if (!open) throw Object.assign(new Error(ONE_SERVER), { code: 'EACCES' })
    open = false
    ports.set(this, portOf(args))
    this.once('listening', () => {
      done()
      started.resolve()
    })
    env.set(ADDRESS, `unix:${path}`)
    try {
      return listen.apply(this, args)
    } finally {
      env.delete(ADDRESS)
    }
  }
  // Frameworks read their own address back, and fail on null.
  prototype.address = function (this: HttpServer) {
    const port = ports.get(this)
    return port === undefined ? address.call(this) : { address: '127.0.0.1', family: 'IPv4', port }
  }
  prototype.emit = function (this: HttpServer, event: string, ...args: unknown[]) {
    if (event !== 'request' || !ports.has(this)) return emit.call(this, event, ...args)
    const request = args[0] as { headers: HttpHeaders; url: string }
    let handled = false
    around(request.headers, () => {
      handled = emit.call(this, event, ...args)
    })
    return handled
  }
  return {
    listening: started.promise,
    withdraw() {
      open = false
    },
  }
}

function portOf([first]: readonly unknown[]): number {
  const port = first !== null && typeof first === 'object' ? (first as { port?: unknown }).port : first
  return Number(port) > 0 ? Number(port) : 8000
}
