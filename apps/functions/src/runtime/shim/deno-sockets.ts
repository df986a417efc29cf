// Lets Node's and Deno's TCP clients reach the hosts that the policy lists. They connect to a unix socket and name the
// target in the first line. The host enforces the policy; the errors here only inform the function's author.
import { isListed } from '../../egress/allowed-hosts.ts'

/**
 * Parts of Node's modules that the shim uses. Loaded only where the bundle uses them, because loading takes some
 * milliseconds.
 */
export interface NodeSockets {
  readonly net: {
    readonly Socket: { readonly prototype: Dialer }
    isIP(text: string): number
    connect(...args: unknown[]): unknown
  }
  readonly tls: { connect: (...args: unknown[]) => unknown }
  readonly https: { readonly Agent: { readonly prototype: { createConnection: unknown } } }
  readonly dns: Record<string, unknown> & { readonly promises: Record<string, unknown> }
}
interface Dialer {
  connect: (this: Dialer, ...args: unknown[]) => unknown
  write(text: string): unknown
  destroy(error: Error): unknown
}
interface DialOptions {
  readonly host?: string
  readonly port?: number | string | null
  readonly path?: string | null
  readonly socket?: unknown
  readonly servername?: string
}

/**
 * First byte of reserved addresses (RFC 1112, section 4) that represent names, for libraries that resolve a name before
 * they connect.
 */
const FAKE = 240

/** Hosts that may be dialled, and the names behind the placeholder addresses. */
export class Reach {
  readonly #listed: readonly string[]
  readonly #fake = new Map<string, string>()
  readonly #onRefused: (text: string) => void

  /** @param onRefused called with the text of each refusal */
  constructor(listed: readonly string[], onRefused: (text: string) => void) {
    this.#listed = listed
    this.#onRefused = onRefused
  }

  /** `host:port` in the host's notation. @throws EACCES with the remedy */
  target(host: string, port: number): string {
    const name = (this.#fake.get(host) ?? host).toLowerCase()
    const target = `${name}:${port}`
    if (isListed(this.#listed, name, port, true)) return target
    throw this.#refusal(`connection to ${target} is not allowed: add "${target}" to "net" in function.json`)
  }

  /** A placeholder address for a name that is listed with any port. @throws EACCES */
  address(name: string): string {
    const wanted = name.toLowerCase()
    if (!isListed(this.#listed, wanted, null, true))
      throw this.#refusal(`${name} cannot be looked up: add "${name}:{port}" to "net" in function.json`)
    for (const [address, known] of this.#fake) if (known === wanted) return address
    const number = this.#fake.size + 1
    const address = [FAKE, (number >> 16) & 255, (number >> 8) & 255, number & 255].join('.')
    this.#fake.set(address, wanted)
    return address
  }

  #refusal(text: string): Error {
    this.#onRefused(text)
    return refusal(text)
  }
}

function refusal(message: string): Error {
  return Object.assign(new Error(message), { code: 'EACCES', syscall: 'connect' })
}

/** Routes Node's TCP, TLS and DNS clients through the socket at `path`. */
export function carryNodeSockets({ net, tls, https, dns }: NodeSockets, path: string, reach: Reach): void {
  const { prototype } = net.Socket
  const { connect } = prototype
  prototype.connect = function (this: Dialer, ...args: unknown[]) {
    const { options, done } = readArguments(args)
    if (typeof options.path === 'string') return connect.apply(this, args)
    let target: string
    try {
      target = reach.target(options.host ?? 'localhost', Number(options.port))
    } catch (error) {
      queueMicrotask(() => this.destroy(error as Error))
      return this
    }
    connect.call(this, { path }, ...(done ? [done] : []))
    // This is the first write: the library does not have the socket yet.
    this.write(`${target}\n`)
    return this
  }
  const secure = tls.connect
  tls.connect = (...args) => {
    const { options, done } = readArguments(args)
    if (options.socket || typeof options.path === 'string') return secure(...args)
    const { host = 'localhost', port, ...rest } = options
    const servername = rest.servername ?? (net.isIP(host) === 0 ? host : '')
    return secure({ ...rest, servername, socket: net.connect({ host, port }) }, ...(done ? [done] : []))
  }
  https.Agent.prototype.createConnection = (...args: unknown[]) => tls.connect(...args)
  const lookup = (name: string, ...rest: unknown[]) => {
    const done = rest.pop() as (error: Error | null, ...found: unknown[]) => void
    const isAll = (rest[0] as { all?: boolean } | undefined)?.all === true
    answer(() => reach.address(name)).then(
      (address) => (isAll ? done(null, [{ address, family: 4 }]) : done(null, address, 4)),
      (error: Error) => done(error),
    )
  }
  const resolve = (name: string, ...rest: unknown[]) => {
    const done = rest.pop() as (error: Error | null, found?: string[]) => void
    answer(() => reach.address(name)).then(
      (address) => done(null, [address]),
      (error: Error) => done(error),
    )
  }
  Object.assign(dns, { lookup, resolve4: resolve })
  Object.assign(dns.promises, {
    lookup: async (name: string, options?: { all?: boolean }) => {
      const found = { address: reach.address(name), family: 4 }
      return options?.all === true ? [found] : found
    },
    resolve4: async (name: string) => [reach.address(name)],
  })
}

async function answer<T>(work: () => T): Promise<T> {
  return work()
}

interface DenoSockets {
  connect: (options: object) => Promise<{ write(bytes: Uint8Array): Promise<number> }>
  connectTls: unknown
  startTls: unknown
}

/** Routes `Deno.connect` through the socket at `path`. */
export function carryDenoSockets(deno: DenoSockets, path: string, reach: Reach): void {
  const native = deno.connect
  const connect = async (options: { hostname?: string; port?: number; transport?: string }) => {
    if (options.transport !== undefined && options.transport !== 'tcp') return native(options)
    const target = reach.target(options.hostname ?? '127.0.0.1', Number(options.port))
    const socket = await native({ transport: 'unix', path })
    await socket.write(new TextEncoder().encode(`${target}\n`))
    return socket
  }
  Object.defineProperties(deno, {
    connect: { value: connect },
    connectTls: { value: encrypted },
    startTls: { value: encrypted },
  })
}

async function encrypted(): Promise<never> {
  throw refusal('Deno.connectTls and Deno.startTls have no socket here: use node:tls, or fetch')
}

/** `(options, done)`, `(port, host, done)`, `(path, done)`, or the array that Node makes of one of them. */
function readArguments(args: readonly unknown[]): { options: DialOptions; done: (() => void) | null } {
  if (Array.isArray(args[0])) return readArguments(args[0] as unknown[])
  const last = args.at(-1)
  const done = typeof last === 'function' ? (last as () => void) : null
  const [first, second, third] = args
  if (first !== null && typeof first === 'object') return { options: first, done }
  if (typeof first === 'string' && !/^\d+$/.test(first)) return { options: { path: first }, done }
  const host = typeof second === 'string' ? { host: second } : {}
  const more = [second, third].find((value) => value !== null && typeof value === 'object') ?? {}
  return { options: { ...more, ...host, port: Number(first) }, done }
}
