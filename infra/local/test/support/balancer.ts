import { connect, createServer, type AddressInfo } from 'node:net'

/** Stands before the replicas of an app, as a service of Kubernetes does. */
export interface Balancer extends AsyncDisposable {
  readonly port: number
  /** Ports that new connections go to, in turns. One that is taken out keeps the connections it has. */
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
