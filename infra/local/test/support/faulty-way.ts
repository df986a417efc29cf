import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Fault of a proxy towards its clients. */
export type WayFault = 'refuses' | 'hangs' | 'dies silently' | 'answers endlessly' | 'answers by half'

export const WAY_FAULTS: readonly WayFault[] = [
  'refuses',
  'hangs',
  'dies silently',
  'answers endlessly',
  'answers by half',
]

/** A TCP proxy to a server that misbehaves while `fault` is set. */
export interface FaultyWay extends AsyncDisposable {
  readonly port: number
  fault: WayFault | null
}

const NOISE = Buffer.alloc(65_536, 0x44)

export async function openFaultyWay(host: string, port: number): Promise<FaultyWay> {
  const inside = new Set<Socket>()
  let fault: WayFault | null = null
  const server = createServer((client) => {
    track(client)
    if (fault === 'refuses') return void client.resetAndDestroy()
    if (fault === 'hangs' || fault === 'dies silently') return void client.pause()
    const upstream = connect(port, host)
    track(upstream)
    client.once('close', () => upstream.destroy())
    upstream.once('close', () => client.destroy())
    client.on('data', (data) => {
      if (fault !== 'dies silently') upstream.write(data)
    })
    upstream.on('data', (data: Buffer) => {
      if (fault === null) client.write(data)
      else if (fault === 'answers endlessly') repeat(client)
      else if (fault === 'answers by half') client.write(data.subarray(0, data.length >> 1))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get fault() {
      return fault
    },
    set fault(value) {
      fault = value
      // Connections that die silently stay open on both sides, like half answers.
      if (value === null || value === 'refuses' || value === 'hangs') for (const socket of inside) socket.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of inside) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }

  function track(socket: Socket): void {
    inside.add(socket)
    socket.on('error', () => socket.destroy())
    socket.once('close', () => inside.delete(socket))
  }
}

/** Writes as fast as the other side reads, until it closes. */
function repeat(client: Socket): void {
  if (client.destroyed || client.listenerCount('drain') > 0) return
  while (client.write(NOISE));
  client.once('drain', () => repeat(client))
}
