import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A proxy on loopback in front of a database, which can let connections die silently. */
export interface SilentProxy extends AsyncDisposable {
  readonly url: string
  /** From now on connections stay open, but every byte is dropped. The server's side is closed, as in a failover. */
  swallow(): void
  /** From now on connections are accepted but lead nowhere, until this is called with false. */
  hang(hangs: boolean): void
  /** Connections that clients have made. */
  readonly connections: number
}

/** Starts a proxy in front of the server of a URL. */
export async function startSilentProxy(target: string): Promise<SilentProxy> {
  const url = new URL(target)
  const { hostname, port } = url
  const pairs = new Map<Socket, Socket | null>()
  let hangs = false
  let connections = 0
  const server = createServer((client) => {
    connections++
    client.on('error', () => {})
    client.on('close', () => pairs.delete(client))
    if (hangs) {
      pairs.set(client, null)
      client.resume()
      return
    }
    const upstream = connect(Number(port), hostname)
    pairs.set(client, upstream)
    upstream.on('error', () => {})
    upstream.on('close', () => pairs.get(client) === upstream && client.destroy())
    client.on('close', () => upstream.destroy())
    client.pipe(upstream)
    upstream.pipe(client)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url.port = String((server.address() as AddressInfo).port)
  url.hostname = '127.0.0.1'
  return {
    url: url.href,
    swallow() {
      for (const [client, upstream] of pairs) {
        if (!upstream) continue
        pairs.set(client, null)
        client.unpipe()
        upstream.unpipe()
        client.resume()
        upstream.destroy()
      }
    },
    hang(value) {
      hangs = value
    },
    get connections() {
      return connections
    },
    async [Symbol.asyncDispose]() {
      for (const [client, upstream] of pairs) {
        client.destroy()
        upstream?.destroy()
      }
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
