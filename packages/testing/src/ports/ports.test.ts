import { once } from 'node:events'
import { createServer } from 'node:net'

import { expect, test, vi } from 'vitest'

import { freePorts } from './index.ts'

test('ports differ and can be listened on, all at once', async () => {
  const ports = await freePorts(20)
  expect(new Set(ports).size).toBe(20)
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  for (const server of servers) server.close()
})

test('processes of tests that run at once draw from different ranges', async () => {
  const drawn: number[][] = []
  for (const id of ['1', '2', '3']) {
    vi.stubEnv('VITEST_POOL_ID', id)
    drawn.push((await freePorts(50)).toSorted((a, b) => a - b))
  }
  vi.unstubAllEnvs()
  for (const [i, ports] of drawn.entries()) expect(ports[0]!).toBeGreaterThan(drawn[i - 1]?.at(-1) ?? 0)
})
