import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** Fault of a request: `reset` is before the service sees it, `lost answer` a reset after the service handled it. */
export type Fault = 'hang' | 'reset' | '503' | 'cut' | 'stall' | 'lost answer' | 'drip'

export interface FaultProxy extends AsyncDisposable {
  readonly port: number
  /** Applies a fault to the next `times` requests; to all when absent. */
  fail(fault: Fault, times?: number): void
  heal(): void
}

/** TCP proxy between a client and a service that injects faults on request. */
export async function startFaultProxy(upstreamPort: number): Promise<FaultProxy> {
  let fault: Fault | null = null
  let left = 0
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(upstreamPort, '127.0.0.1')
    let mine: Fault | null = null
    let dripping = Promise.resolve()
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', () => {})
      socket.on('close', () => {
        sockets.delete(socket)
        client.destroy()
        upstream.destroy()
      })
    }
    client.on('data', (data) => {
      if (mine === null && fault !== null && left > 0) {
        left--
        mine = fault
      }
      if (mine === 'hang') return
      if (mine === 'reset') client.resetAndDestroy()
      else if (mine === '503') {
        client.end('HTTP/1.1 503 Slow Down\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
      } else upstream.write(data)
    })
    upstream.on('data', (data: Buffer) => {
      if (mine === null) client.write(data)
      else if (mine === 'lost answer') client.resetAndDestroy()
      else if (mine === 'drip') dripping = dripping.then(() => drip(client, data))
      else {
        client.write(data.subarray(0, data.length >> 1), () => {
          if (mine === 'cut') client.resetAndDestroy()
        })
        upstream.pause()
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    fail(next, times = Infinity) {
      fault = next
      left = times
    },
    heal() {
      fault = null
      for (const socket of sockets) socket.destroy()
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function drip(client: Socket, data: Buffer): Promise<void> {
  const step = Math.max(1, data.length >> 3)
  for (let at = 0; at < data.length && !client.destroyed; at += step) {
    client.write(data.subarray(at, at + step))
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
