import { connect, createServer, type AddressInfo } from 'node:net'

/** A load balancer in front of the replicas of an app, like a service of Kubernetes. */
export interface Balancer extends AsyncDisposable {
  readonly port: number
  /** Ports for new connections, in turn. A removed port keeps its existing connections. */
  readonly members: Set<number>
}

export async function openBalancer(): Promise<Balancer> {
  let turns = 0
  const members = new Set<number>()
  const open = new Set<{ destroy(): void }>()
  const server = createServer((client) => {
    const port = [...members][turns++ % members.size]
    if (port === undefined) return void client.destroy()
    const upstream = connect(port, '127.0.0.1')
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      open.add(one)
      one.on('error', () => other.destroy())
      one.on('close', () => {
        open.delete(one)
        other.destroy()
      })
      one.pipe(other)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    members,
    [Symbol.asyncDispose]: async () => {
      for (const socket of open) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
