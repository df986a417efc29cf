import { createServer } from 'node:net'

/** Below the range from which operating systems take the ports of outgoing connections. */
const FIRST = 15_000
const PORTS = 15_000
/** Number of port ranges of test processes: two processes at the same time use different ranges. */
const RANGES = 5

/** Free TCP ports on 127.0.0.1 that outgoing connections and parallel tests do not use. */
export async function freePorts(count: number): Promise<number[]> {
  // oxlint-disable-next-line node/no-process-env -- The number that vitest gives each process that runs tests.
  const range = Number(process.env['VITEST_POOL_ID'] ?? 0) % RANGES
  const size = PORTS / RANGES
  const ports = new Set<number>()
  while (ports.size < count) {
    const port = FIRST + range * size + Math.floor(Math.random() * size)
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
