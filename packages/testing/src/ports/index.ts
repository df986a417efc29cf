import { createServer } from 'node:net'

/**
 * TCP ports on 127.0.0.1 that nothing listens on, for programs that have to be told theirs. They lie below the range from
 * which operating systems take the ports of outgoing connections, so none of those has one when the program gets to it.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = 15_000 + Math.floor(Math.random() * 15_000)
    if (!ports.has(port) && (await isFree(port))) ports.add(port)
  }
  return [...ports]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
