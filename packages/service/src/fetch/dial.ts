import { lookup } from 'node:dns/promises'
import { isIP, connect as netConnect, type Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { Agent } from 'undici'
import { downloadFailed } from '../errors.ts'

/** Finds the addresses of a host name. */
export type Resolver = (hostname: string) => Promise<readonly string[]>

/** Address to connect to: the one that was checked, so that a second look-up cannot change it. */
export interface DialTarget {
  readonly address: string
  readonly port: number
  readonly hostname: string
  readonly tls: boolean
}

/** Opens a connected socket to a checked address. */
export type Dialer = (target: DialTarget) => Promise<Socket>

const DIAL_TIMEOUT_MS = 10_000
const IDLE_TIMEOUT_MS = 60_000

/** An agent for one exchange over one socket to the checked address. */
export function agentFor(target: DialTarget, dialer: Dialer): Agent {
  return new Agent({
    pipelining: 1,
    connections: 1,
    headersTimeout: IDLE_TIMEOUT_MS,
    bodyTimeout: IDLE_TIMEOUT_MS,
    connect: (_options, callback) => {
      dialer(target).then(
        (socket) => callback(null, socket),
        (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
      )
    },
  })
}

/** @throws DOWNLOAD_FAILED */
export async function resolve(resolver: Resolver, hostname: string): Promise<readonly string[]> {
  try {
    return await resolver(hostname)
  } catch (cause) {
    throw downloadFailed({ host: hostname, reason: 'the name cannot be resolved' }, { cause })
  }
}

/** Looks addresses up with the system's resolver. */
export const systemResolver: Resolver = async (hostname) => {
  const found = await lookup(hostname, { all: true, verbatim: true })
  return found.map((entry) => entry.address)
}

/** A socket of TCP or TLS, open within ten seconds. */
export const systemDialer: Dialer = ({ address, port, hostname, tls }) =>
  new Promise((resolvePromise, reject) => {
    const servername = isIP(hostname) ? {} : { servername: hostname }
    const socket = tls
      ? tlsConnect({ host: address, port, ...servername, ALPNProtocols: ['http/1.1'] })
      : netConnect({ host: address, port })
    socket.setTimeout(DIAL_TIMEOUT_MS, () => socket.destroy(new Error('the connection timed out')))
    socket.once('error', reject)
    socket.once(tls ? 'secureConnect' : 'connect', () => {
      socket.setTimeout(0)
      socket.off('error', reject)
      resolvePromise(socket)
    })
  })
