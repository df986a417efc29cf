import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { connect } from '../src/connection.ts'

let home: string
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'terrane-connection-'))
  await writeFile(join(home, 'keys.json'), JSON.stringify({ serviceRoleKey: 'local key' }))
})
afterEach(async () => {
  await rm(home, { recursive: true })
})

test.each([
  'https://terrane.example',
  'http://127.0.0.1.terrane.example',
  'http://localhost@terrane.example',
  'not an address',
])('the keys of the local stack are not sent to %s', async (url) => {
  await expect(connect(undefined, { TERRANE_HOME: home, TERRANE_URL: url })).rejects.toMatchObject({
    code: 'NOT_CONNECTED',
    message: expect.stringContaining('TERRANE_SERVICE_ROLE_KEY'),
  })
})

test.each(['http://localhost:9000', 'http://127.0.0.1:9000', 'http://[::1]:9000'])(
  'the local stack is found at %s with its own keys',
  async (url) => {
    const connection = await connect(undefined, { TERRANE_HOME: home, TERRANE_URL: `${url}/` })
    expect(connection).toMatchObject({ url, key: 'local key' })
  },
)

test('an empty TERRANE_URL is none', async () => {
  const connection = await connect(undefined, { TERRANE_HOME: home, TERRANE_URL: '' })
  expect(connection.url).toBe('http://127.0.0.1:8000')
})
