import { startEndless } from '@terrane/testing/endless'
import { expect, test } from 'vitest'
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
