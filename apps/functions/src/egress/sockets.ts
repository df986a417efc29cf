import { connect, createServer, type Socket } from 'node:net'
import { pipeline } from 'node:stream'
import { resolvePublicHost, type FetchPolicy } from '@terrane/service'
import type { FunctionVersion } from '../function-version.ts'
import { DATABASE_TARGET } from '../database/address.ts'
import type { DatabaseDoor, Visitor } from '../database/door.ts'
import { allowing, isListed } from './allowed-hosts.ts'

export interface SocketsOptions {
  /** Access to the project's database; null if functions have no access. */
  readonly database: DatabaseDoor | null
  /** Hosts that the operator lets functions reach although they are private. */
  readonly policy: FetchPolicy
  /** Called with the reason why a connection failed. The function only sees that it closes. */
  readonly onRefused: (version: FunctionVersion, text: string) => void
}

/** Maximum concurrent connections of one instance to other hosts. */
const MAX_CONNECTIONS = 32
/** Longest silence in both directions, and longest time to name a target and to connect to it, in milliseconds. */
const IDLE_MS = 300_000
const DIAL_MS = 15_000
/** A name has 253 characters at most. */
const MAX_LINE = 300

/**
 * Opens the socket by which one instance reaches the hosts of its policy by TCP. The first line of a connection is
 * `host:port`; after it, bytes pass unchanged in both directions. The name is resolved here, once, every address must
 * be public, and the connection goes to the checked address.
 */
export async function openSockets(path: string, visitor: Visitor, options: SocketsOptions): Promise<AsyncDisposable> {
  const open = new Set<Socket>()
  const server = createServer({ allowHalfOpen: true }, (inside) => {
    open.add(inside)
    inside.once('close', () => open.delete(inside))
    inside.on('error', ignore)
    void serve(inside, visitor, options).catch((error: Error) => {
      options.onRefused(visitor.version, error.message)
      inside.destroy()
    })
  })
  server.maxConnections = MAX_CONNECTIONS
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, resolve)
  })
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function serve(inside: Socket, visitor: Visitor, { policy, database }: SocketsOptions): Promise<void> {
  const line = await firstLine(inside)
  if (line === DATABASE_TARGET && database) return database.serve(inside, visitor)
  const { version } = visitor
  const [, hostname = '', digits = ''] = /^([a-z0-9.-]{1,253}):([0-9]{1,5})$/i.exec(line) ?? []
  const port = Number(digits)
  if (hostname === '' || port < 1 || port > 65_535) throw new Error('a connection named no host and port')
  const target = `${hostname}:${port}`
  if (!isListed(version.policy.net, hostname, port, true))
    throw new Error(`connection to ${target} is not allowed: add it to "net" in function.json`)
  const refused = (error: Error) => new Error(`connection to ${target} failed: ${error.message}`)
  const allowed = allowing(policy, version.policy.net, { hostname, port, secure: true })
  const address = await resolvePublicHost(hostname, allowed).catch((error: Error) => {
    throw refused(error)
  })
  const outside = connect({ host: address, port, allowHalfOpen: true, noDelay: true })
  inside.once('close', () => outside.destroy())
  await new Promise<void>((resolve, reject) => {
    outside.setTimeout(DIAL_MS, () => outside.destroy(new Error('it does not answer')))
    outside.once('connect', resolve)
    outside.once('error', (error) => reject(refused(error)))
    outside.once('close', () => reject(refused(new Error('it closed the connection'))))
  })
  outside.setTimeout(IDLE_MS)
  pipeline(inside, outside, ignore)
  pipeline(outside, inside, ignore)
}

/** Reads up to the first line break. The remaining bytes stay in the stream. */
function firstLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0)
    const timer = setTimeout(() => finish(new Error('a connection named no host in time')), DIAL_MS)
    const finish = (result: string | Error) => {
      clearTimeout(timer)
      socket.off('readable', look)
      socket.off('close', gone)
      if (typeof result === 'string') resolve(result)
      else reject(result)
    }
    const gone = () => finish(new Error('a connection named no host'))
    const look = () => {
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        held = Buffer.concat([held, chunk])
        const end = held.indexOf(10)
        if (end < 0 && held.length <= MAX_LINE) continue
        if (end < 0 || end > MAX_LINE) return finish(new Error('a connection named no host'))
        if (end + 1 < held.length) socket.unshift(held.subarray(end + 1))
        return finish(held.toString('latin1', 0, end))
      }
    }
    socket.on('readable', look)
    socket.once('close', gone)
  })
}

function ignore(): void {}
