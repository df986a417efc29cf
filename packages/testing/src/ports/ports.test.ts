import { once } from 'node:events'
import { createServer } from 'node:net'

import { expect, test } from 'vitest'

import { freePorts } from './index.ts'

test('ports differ and can be listened on, all at once', async () => {
  const ports = await freePorts(20)
  expect(new Set(ports).size).toBe(20)
  const servers = ports.map((port) => createServer().listen(port, '127.0.0.1'))
  await Promise.all(servers.map((server) => once(server, 'listening')))
  for (const server of servers) server.close()
})
