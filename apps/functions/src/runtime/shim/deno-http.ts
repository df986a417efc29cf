import type { HttpOffer, HttpRequest } from './platform.ts'

/**
 * Parts of `node:http` that the shim uses. They are loaded only where the bundle uses them, because loading takes some
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

const ONE_SERVER =
  'a function has one server, which listens while the module loads: put what a second one does into the first'

/**
 * Moves the first `node:http` server to the socket of the function, ignoring the requested port.
 *
 * @param done called when the server listens; after that the function may not access the socket's file
 */
export function moveHttpServer(
  http: NodeHttp,
  path: string,
  around: (request: HttpRequest, handle: () => void) => void,
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
    const listener = args.at(-1)
    if (typeof listener === 'function') this.once('listening', listener as () => void)
    const { signal } = optionsOf(args)
    return listen.call(this, signal ? { path, signal } : { path })
  }
  // Frameworks read their own address back, and fail on null.
  prototype.address = function (this: HttpServer) {
    const port = ports.get(this)
    return port === undefined ? address.call(this) : { address: '127.0.0.1', family: 'IPv4', port }
  }
  prototype.emit = function (this: HttpServer, event: string, ...args: unknown[]) {
    if (!ports.has(this)) return emit.call(this, event, ...args)
    if (event === 'connection') tellPeer(args[0] as object)
    if (event !== 'request' && event !== 'upgrade') return emit.call(this, event, ...args)
    const request = args[0] as HttpRequest
    request.url = originForm(request.url)
    let handled = false
    around(request, () => {
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

function portOf(args: readonly unknown[]): number {
  const port = optionsOf(args).port ?? args[0]
  return Number(port) > 0 ? Number(port) : 8000
}

function optionsOf([first]: readonly unknown[]): { readonly port?: unknown; readonly signal?: AbortSignal } {
  return first !== null && typeof first === 'object' ? first : {}
}

/** A unix socket has no peer address, and rate limiters and loggers fail without one. */
function tellPeer(socket: object): void {
  Object.defineProperties(socket, {
    remoteAddress: { value: '127.0.0.1', configurable: true },
    remoteFamily: { value: 'IPv4', configurable: true },
  })
}

/** The host asks in absolute form (RFC 9112, 3.2.2); servers and their routers expect a path. */
function originForm(url: string): string {
  if (url.startsWith('/')) return url
  const start = url.indexOf('/', url.indexOf('://') + 3)
  return start === -1 ? '/' : url.slice(start)
}
