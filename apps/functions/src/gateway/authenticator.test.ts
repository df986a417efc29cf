import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { unauthorized, type Principal } from '@terrane/auth'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Policy } from '../policy.ts'
import { createAuthenticator } from './authenticator.ts'
import { notAuthenticated } from './refusals.ts'

const now = Date.parse('2026-01-01T00:00:00Z')
beforeEach(() => vi.useFakeTimers({ now }))
afterEach(() => vi.useRealTimers())

/**
 * An authenticator that records its look-ups. The credential is the name of the role; `exp` is its lifetime in seconds.
 */
function counting(exp?: number, ratePerAddress = 0) {
  const asked: string[] = []
  const limited = createAuthenticator(
    (project) => async (credential) => {
      asked.push(`${project} ${credential}`)
      if (credential === 'bad') throw unauthorized({ reason: 'unknown' })
      const claims = { role: credential, ...(exp !== undefined && { exp: now / 1000 + exp }) }
      return {
        role: credential as Principal['role'],
        projectRef: project,
        projectId: null,
        organizationId: null,
        scopes: null,
        subject: null,
        claims,
      }
    },
    { trustedProxies: ['10.0.0.1'], metricsKey: null, ratePerAddress, ratePerKey: 0 },
  )
  const authenticate = (project: string, headers: IncomingHttpHeaders, needed: Policy['auth'] = 'anon') =>
    limited(project, { headers, socket: { remoteAddress: '10.0.0.1' } } as IncomingMessage, needed)
  return { asked, authenticate }
}

test('a good credential is verified once and then known, for its project alone', async () => {
  const { asked, authenticate } = counting()
  expect(await authenticate('p', { apikey: 'anon' })).toMatchObject({
    rank: 'anon',
    apikey: 'anon',
    authorization: null,
  })
  expect(authenticate('p', { apikey: 'anon' })).not.toBeInstanceOf(Promise)
  expect(authenticate('q', { apikey: 'anon' })).toBeInstanceOf(Promise)
  expect(asked).toEqual(['p anon', 'q anon'])
})

test('it is forgotten after ten seconds, or when it expires', async () => {
  const forever = counting()
  await forever.authenticate('p', { apikey: 'anon' })
  vi.advanceTimersByTime(9000)
  expect(forever.authenticate('p', { apikey: 'anon' })).not.toBeInstanceOf(Promise)
  vi.advanceTimersByTime(2000)
  expect(forever.authenticate('p', { apikey: 'anon' })).toBeInstanceOf(Promise)
  const short = counting(8)
  await short.authenticate('p', { authorization: 'Bearer authenticated' })
  vi.advanceTimersByTime(8001)
  expect(short.authenticate('p', { authorization: 'Bearer authenticated' })).toBeInstanceOf(Promise)
})

test('a bad one is not remembered, and is refused beside a good one', async () => {
  const { asked, authenticate } = counting()
  for (let i = 0; i < 2; i++) {
    await expect(authenticate('p', { apikey: 'anon', authorization: 'Bearer bad' })).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    })
  }
  expect(asked).toEqual(['p anon', 'p bad', 'p anon', 'p bad'])
})

test('a request without a key is anonymous; a key of the shared services has no rank here', async () => {
  const { authenticate } = counting()
  expect(authenticate('p', {})).toEqual({
    rank: 'none',
    claims: null,
    apikey: null,
    authorization: null,
    serviceHeaders: [],
  })
  expect(await authenticate('p', { apikey: 'services' })).toMatchObject({ rank: 'none' })
  expect(await authenticate('p', { apikey: 'service_role' })).toMatchObject({ rank: 'service' })
})

test.each([
  ['a user decides', { apikey: 'service_role', authorization: 'Bearer authenticated' }, 'user', ['apikey']],
  ['Authorization is empty', { apikey: 'service_role', authorization: '' }, 'service', ['apikey']],
  ['both are the same', { apikey: 'service_role', authorization: 'bearer  service_role' }, 'service', 'both'],
  ['apikey is of the anon role', { apikey: 'anon', authorization: 'Bearer service_role' }, 'service', 'bearer'],
  ['apikey is no key', { apikey: 'bad', authorization: 'Bearer service_role' }, 'none', 'bearer'],
  ['Authorization is no key', { apikey: 'service_role', authorization: 'Basic YTpi' }, 'service', ['apikey']],
])('the headers with a key of the service role are known where %s', async (_, sent, rank, found) => {
  const { authenticate } = counting()
  const all = { both: ['apikey', 'authorization'], bearer: ['authorization'] }
  const serviceHeaders = typeof found === 'string' ? all[found as keyof typeof all] : found
  for (let n = 0; n < 2; n++) expect(await authenticate('p', sent, 'none')).toMatchObject({ rank, serviceHeaders })
})

test('an address asks so often in a minute, whatever its key; the service role and other addresses are not counted for it', async () => {
  const { authenticate } = counting(undefined, 3)
  const from = async (address: string, headers: IncomingHttpHeaders = {}) =>
    authenticate('p', { ...headers, 'x-forwarded-for': `198.51.100.9, ${address}` })
  for (let n = 0; n < 3; n++) expect(await from('203.0.113.1', n === 1 ? { apikey: 'anon' } : {})).toBeTruthy()
  vi.advanceTimersByTime(25_000)
  const refused: unknown = await from('203.0.113.1').catch((error: unknown) => error)
  expect(notAuthenticated(refused)).toMatchObject({ code: 'RATE_LIMITED', headers: ['retry-after', '35'] })
  await expect(from('203.0.113.1', { apikey: 'anon' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(await from('203.0.113.1', { apikey: 'service_role' })).toMatchObject({ rank: 'service' })
  expect(await from('203.0.113.2')).toMatchObject({ rank: 'none' })
})

test('an address that sends wrong keys has no more of them looked up, except good ones', async () => {
  const { asked, authenticate } = counting(undefined, 3)
  await authenticate('p', { apikey: 'service_role' })
  for (let n = 0; n < 3; n++)
    await expect(authenticate('p', { apikey: 'bad' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  const before = asked.length
  await expect(authenticate('p', { apikey: 'bad' })).rejects.toMatchObject({ code: 'RATE_LIMITED' })
  expect(asked).toHaveLength(before)
  vi.advanceTimersByTime(11_000)
  expect(await authenticate('p', { apikey: 'service_role' })).toMatchObject({ rank: 'service' })
})

test('for a function that anyone may call, credentials of others are the function’s, and count as absent', async () => {
  const { asked, authenticate } = counting()
  const anonymous = { rank: 'none', claims: null, apikey: null, authorization: null, serviceHeaders: [] }
  for (const authorization of ['Bearer bad', 'Basic YTpi', 'Bearer', 'whsec'])
    expect(await authenticate('p', { authorization }, 'none')).toEqual(anonymous)
  const anon = { rank: 'anon', apikey: 'anon', authorization: null }
  for (const authorization of ['Bearer bad', 'Basic YTpi'])
    expect(await authenticate('q', { apikey: 'anon', authorization }, 'none')).toMatchObject(anon)
  expect(asked).toEqual(['p bad', 'q anon', 'q bad', 'q anon'])
})

test('nor is it refused where an address has sent too many keys of others: they are looked up no more', async () => {
  const { asked, authenticate } = counting(undefined, 3)
  const from = (headers: IncomingHttpHeaders, needed: Policy['auth'], address: string) =>
    authenticate('p', { ...headers, 'x-forwarded-for': address }, needed)
  for (let n = 0; n < 3; n++)
    await expect(from({ apikey: 'bad' }, 'anon', '203.0.113.1')).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  const before = asked.length
  expect(await from({ authorization: 'Bearer bad' }, 'none', '203.0.113.1')).toMatchObject({ rank: 'none' })
  expect(asked).toHaveLength(before)
})
