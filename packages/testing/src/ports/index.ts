import { createServer } from 'node:net'

/** Below the range from which operating systems take the ports of outgoing connections. */
const FIRST = 15_000
const PORTS = 15_000
/** Ranges that processes of the test runner take their ports from: two that run at once never draw the same one. */
const RANGES = 5

/**
 * TCP ports on 127.0.0.1 that nothing listens on, for programs that have to be told theirs. No outgoing
 * connection and no other test that runs beside this one has one of them when the program gets to it.
 */
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
