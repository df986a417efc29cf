import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { DEPTH_HEADER } from '@terrane/contracts/events'
import { expect, test } from 'vitest'
import type { FunctionVersion } from '../function-version.ts'
import { parsePolicy } from '../policy.ts'
import type { ProjectAddress } from './project-address.ts'
import { carryState, moveState } from './state.ts'

const version = { name: 'fn', policy: parsePolicy({}) } as FunctionVersion

async function listen(handler: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = createServer(handler)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { port, url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: close }
}
const addressOf = (apiUrl: string) => ({ apiUrl, serviceKey: 'key' }) as ProjectAddress
const ASKED = JSON.stringify({ operation: 'get', keys: [], store: ['fn', ''] })

test('a request that is cut off in its body ends without an error', async () => {
  let done: Promise<void> | undefined
  const arrived = Promise.withResolvers<void>()
  await using door = await listen((request, response) => {
    done = carryState({ request, response, version }, addressOf('http://127.0.0.1:1'), '')
    arrived.resolve()
  })
  const socket = connect(door.port, '127.0.0.1')
  socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{"store"')
  await arrived.promise
  socket.destroy()
  await expect(done).resolves.toBeUndefined()
})

test('requests and answers are bounded, and a function can neither remove nor rename state itself', async () => {
  const depths: unknown[] = []
  await using api = await listen(({ headers }, response) => {
    depths.push(headers[DEPTH_HEADER])
    response.end(Buffer.alloc(17 * 1024 * 1024, 32))
  })
  await using door = await listen(
    (request, response) => void carryState({ request, response, version }, addressOf(api.url), '1.signed'),
  )
  const statusOf = async (body: string) => (await fetch(door.url, { method: 'POST', body })).status
  for (const asked of [{ operation: 'remove' }, { operation: 'rename', to: 'other' }, {}])
    expect(await statusOf(JSON.stringify({ ...asked, store: ['fn', ''] }))).toBe(403)
  expect(await statusOf(ASKED)).toBe(502)
  // Messages of a commit belong to the chain of the call.
  expect(depths).toEqual(['1.signed'])
  // A small JSON text can take much memory once it is parsed.
  expect(await statusOf(`{"keys":[${'[],'.repeat(60_000)}1],"store":["fn",""]}`)).toBe(413)
  expect(await statusOf(`{"keys":${'['.repeat(1000)}${']'.repeat(1000)},"store":["fn",""]}`)).toBe(413)
  expect(await statusOf(' '.repeat(3 * 1024 * 1024))).toBe(413)
})

test('the removal of state names the function, and fails where it could not be asked for', async () => {
  let body = ''
  let status = 200
  await using api = await listen((request, response) => {
    body = ''
    request.on('data', (chunk) => (body += String(chunk)))
    request.on('end', () => response.writeHead(status).end('true'))
  })
  await moveState(addressOf(api.url), 'fn', { operation: 'remove' })
  expect(JSON.parse(body)).toEqual({ store: 'fn:fn:', request: { operation: 'remove' } })
  status = 500
  await expect(moveState(addressOf(api.url), 'fn', { operation: 'remove' })).rejects.toThrow(
    'could not be moved or deleted: HTTP status 500',
  )
})
