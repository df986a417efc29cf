import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { startEndless } from '@terrane/testing/endless'
import { expect, onTestFinished, test, vi } from 'vitest'
import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import { projectOf } from './project.ts'

test('a key set that has no end costs 64 MB at most, and is no reason to let anybody in', async () => {
  await using server = await startEndless()
  const names = { id: 'p', ref: 'p', folder: 'p' }
  const { verify } = projectOf(names, { apiUrl: server.url, jwksUrl: `${server.url}/jwks.json` }, [], null)
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const token = `${part({ alg: 'RS256', kid: 'a' })}.${part({ exp: 9_999_999_999, role: 'authenticated' })}.AAAA`
  await expect(verify(token)).rejects.toMatchObject({ code: 'DOWNLOAD_TOO_LARGE' })
  await server.quiet()
  expect(server.sent()).toBeLessThanOrEqual(64 * 1024 * 1024)
})

/** A server of a key set, which fails until the test repairs it. */
async function startKeys() {
  const pair = await generateKeyPair('ES256')
  const keys = [{ ...(await exportJWK(pair.publicKey)), kid: 'a', alg: 'ES256' }]
  const state = { asked: 0, isMended: false }
  const server = createServer((_, response) => {
    state.asked++
    response.writeHead(state.isMended ? 200 : 500).end(JSON.stringify({ keys }))
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const project = projectOf({ id: 'p', ref: 'p', folder: 'p' }, { apiUrl: url, jwksUrl: `${url}/jwks.json` }, [], null)
  return { state, keys, project, pair }
}

test('the keys for functions and for the verification of tokens are fetched once', async () => {
  const { state, keys, project, pair } = await startKeys()
  state.isMended = true
  const token = await new SignJWT({ role: 'authenticated', sub: 'ada' })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .setExpirationTime('1h')
    .sign(pair.privateKey)
  expect(await project.publicKeys()).toEqual(keys)
  expect(await project.verify(token)).toMatchObject({ subject: 'ada' })
  expect(await project.publicKeys()).toEqual(keys)
  expect(state.asked).toBe(1)
})

test('a key set that cannot be fetched is not asked for again for half a minute', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
  const { state, keys, project } = await startKeys()
  const failed = async () => expect(await project.publicKeys().catch(() => 'failed')).toBe('failed')
  await Promise.all([failed(), failed()])
  await failed()
  state.isMended = true
  await failed()
  expect(state.asked).toBe(1)
  vi.advanceTimersByTime(30_001)
  expect(await project.publicKeys()).toEqual(keys)
  expect(state.asked).toBe(2)
})
