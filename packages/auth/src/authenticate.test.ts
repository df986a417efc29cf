import { createHmac } from 'node:crypto'
import { SignJWT, createLocalJWKSet, exportJWK, generateKeyPair } from 'jose'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { authenticateBoth, authenticateEither, readCredentials } from './authenticate.ts'
import { unauthorized } from './errors.ts'
import { hashKey, makeOpaqueKey } from './opaque-keys.ts'
import { keyPrincipal } from './principal.ts'
import { signToken } from './tokens.ts'
import { createVerifier } from './verifier.ts'

const secret = 'a-secret-of-at-least-thirty-two-characters'
const opaque = makeOpaqueKey('sb_secret')
const verify = createVerifier({
  keys: [{ sha256: hashKey(opaque), principal: keyPrincipal('service_role', { projectRef: 'demo' }) }],
  trust: { projectRef: 'demo', jwtSecret: secret, audiences: ['authenticated'] },
})
const anon = await signToken({ iss: 'terrane', ref: 'demo', role: 'anon' }, secret, 3600)
const user = await signToken({ sub: 'u1', role: 'authenticated', aud: ['x', 'authenticated'] }, secret, 3600)
/** A token with a payload that JSON can express but a JavaScript object cannot. */
function signPayload(payload: string): string {
  const text = [JSON.stringify({ alg: 'HS256' }), payload]
    .map((part) => Buffer.from(part).toString('base64url'))
    .join('.')
  return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
}

describe('the worker wants the same key in both headers', () => {
  test('an opaque key in both is its principal', async () => {
    const principal = await authenticateBoth({ apikey: opaque, bearer: opaque }, verify)
    expect(principal).toMatchObject({ role: 'service_role', projectRef: 'demo' })
  })
  test.each([
    ['no apikey', { apikey: null, bearer: opaque }, 'No key was sent (apikey)'],
    ['no bearer', { apikey: opaque, bearer: null }, 'No key was sent (Authorization)'],
    ['two keys', { apikey: opaque, bearer: anon }, 'different keys'],
    ['an unknown key', { apikey: 'nope', bearer: 'nope' }, 'not known'],
  ])('%s is refused', async (_, credentials, message) => {
    await expect(authenticateBoth(credentials, verify)).rejects.toMatchObject({
      kind: 'unauthenticated',
      message: expect.stringContaining(message) as string,
    })
  })
})

describe('rest, storage and functions take either header', () => {
  test('no credential is no caller', async () => {
    expect(await authenticateEither({ apikey: null, bearer: null }, verify)).toBeNull()
  })
  test('a user token beside an anon key decides', async () => {
    expect(await authenticateEither({ apikey: anon, bearer: user }, verify)).toMatchObject({
      role: 'authenticated',
      subject: 'u1',
    })
  })
  test('an opaque key repeated as Bearer is accepted', async () => {
    expect(await authenticateEither({ apikey: opaque, bearer: opaque }, verify)).toMatchObject({ role: 'service_role' })
  })
  test('a bad Bearer is refused although the apikey is good', async () => {
    await expect(authenticateEither({ apikey: anon, bearer: 'junk' }, verify)).rejects.toMatchObject({
      code: 'UNAUTHORIZED',
    })
  })
})

describe('tokens', () => {
  const base64 = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { ref: 'demo', role: 'service_role', exp: 4102444800 }
  const hs384 = () =>
    new SignJWT({ ...claims }).setProtectedHeader({ alg: 'HS384' }).sign(Buffer.from(secret.repeat(2)))
  test.each<[string, () => string | Promise<string>]>([
    ['alg none', () => `${base64({ alg: 'none' })}.${base64(claims)}.`],
    ['another secret', () => signToken({ ref: 'demo', role: 'anon' }, 'another-secret-of-thirty-two-characters', 60)],
    ['an expired token', () => signToken({ ref: 'demo', role: 'anon' }, secret, -60)],
    ['a token of another project', () => signToken({ ref: 'other', role: 'anon' }, secret, 60)],
    ['a project key without ref', () => signToken({ role: 'service_role' }, secret, 60)],
    ['an unknown role', () => signToken({ ref: 'demo', role: 'postgres' }, secret, 60)],
    ['a tampered payload', () => anon.replace(/\.[^.]+\./, `.${base64(claims)}.`)],
    ['an HS384 token', hs384],
    ['a token of another audience', () => signToken({ role: 'authenticated', aud: 'elsewhere' }, secret, 60)],
    ['a token without end', () => signPayload('{"ref":"demo","role":"anon","exp":1e999}')],
    ['ten thousand characters', () => 'a'.repeat(10_000)],
  ])('%s is refused', async (_, make) => {
    await expect(verify(await make())).rejects.toMatchObject({ code: 'UNAUTHORIZED', kind: 'unauthenticated' })
  })
  test('a token that was good is refused once it has ended, and when a stored key of its name says so', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
    let revoked = false
    const findStoredKey = () => {
      if (revoked) throw unauthorized({ reason: 'revoked' })
      return Promise.resolve(null)
    }
    const door = createVerifier({ findStoredKey, trust: { projectRef: 'demo', jwtSecret: secret, audiences: [] } })
    const token = await signToken({ sub: 'u3', role: 'authenticated' }, secret, 60)
    const first = await door(token)
    expect(await door(token)).toBe(first)
    revoked = true
    await expect(door(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    revoked = false
    vi.advanceTimersByTime(70_000)
    await expect(door(token)).rejects.toMatchObject({ message: expect.stringContaining('expired') as string })
  })
  test('a token that never expires is refused', async () => {
    const token = await new SignJWT({ ref: 'demo', role: 'anon' })
      .setProtectedHeader({ alg: 'HS256' })
      .sign(Buffer.from(secret))
    await expect(verify(token)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
  })
  test.each(['ES256', 'RS256'])('%s is verified through the key set, and only through it', async (alg) => {
    const { privateKey, publicKey } = await generateKeyPair(alg)
    const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg }
    const viaJwks = createVerifier({
      trust: { projectRef: 'demo', jwks: createLocalJWKSet({ keys: [jwk] }), audiences: [] },
    })
    const token = await new SignJWT({ sub: 'u2', role: 'authenticated' })
      .setProtectedHeader({ alg, kid: 'k1' })
      .setExpirationTime('1m')
      .sign(privateKey)
    const first = await viaJwks(token)
    expect(first).toMatchObject({ role: 'authenticated', subject: 'u2' })
    // A key of the set may be withdrawn, so its tokens are verified each time.
    expect(await viaJwks(token)).not.toBe(first)
    await expect(viaJwks(user)).rejects.toMatchObject({ message: expect.stringContaining('algorithm') as string })
    await expect(verify(token)).rejects.toMatchObject({ message: expect.stringContaining('algorithm') as string })
  })
})

test('headers are read as they come, and a half-written one is refused', () => {
  expect(readCredentials({ apikey: ' k ', authorization: 'bearer  t' })).toEqual({ apikey: 'k', bearer: 't' })
  expect(readCredentials({})).toEqual({ apikey: null, bearer: null })
  expect(() => readCredentials({ authorization: 'Basic abc' })).toThrow('Authorization')
  expect(() => readCredentials({ apikey: ['a', 'b'] })).toThrow('apikey')
})
