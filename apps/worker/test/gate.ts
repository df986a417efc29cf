import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A way to a server that can be shut: then no connection gets through, and open ones are closed. */
export interface Gate extends AsyncDisposable {
  readonly port: number
  isShut: boolean
}

export async function openGate(host: string, port: number): Promise<Gate> {
  const inside = new Set<Socket>()
  let isShut = false
  const server = createServer((client) => {
    if (isShut) return void client.destroy()
    const upstream = connect(port, host)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      inside.add(from)
      from.on('error', () => from.destroy())
      from.once('close', () => {
        inside.delete(from)
        to.destroy()
      })
      from.pipe(to)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const shutOut = () => {
    for (const socket of inside) socket.destroy()
  }
  return {
    port: (server.address() as AddressInfo).port,
    get isShut() {
      return isShut
    },
    set isShut(value) {
      isShut = value
      if (value) shutOut()
    },
    [Symbol.asyncDispose]: async () => {
      shutOut()
      server.close()
      await once(server, 'close')
    },
  }
}
