import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { openDatabase } from '@terrane/database'
import { afterAll, beforeAll, expect, test } from 'vitest'

/** Answers every request for TLS with "no", as a server without it does (PostgreSQL manual, SSL session encryption). */
const server = createServer((socket) => {
  socket.on('error', () => {})
  socket.once('data', () => socket.end('N'))
})
let url: string
beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  url = `postgres://someone@127.0.0.1:${(server.address() as AddressInfo).port}/database`
})
afterAll(() => void server.close())

test.each(['require', 'verify-ca', 'verify-full'])(
  'sslmode=%s at a server without TLS is one clear error',
  async (mode) => {
    const opening = openDatabase({ url: `${url}?sslmode=${mode}`, applicationName: 'test' })
    await expect(opening).rejects.toMatchObject({
      code: 'DATABASE_WITHOUT_TLS',
      kind: 'invalid',
      hint: expect.stringContaining('sslmode=prefer') as string,
    })
  },
)
