import { createHash } from 'node:crypto'
import { SignJWT, createLocalJWKSet, exportJWK, generateKeyPair, jwtVerify } from 'jose'
import { expect, test } from 'vitest'
import {
  authenticateBoth,
  createVerifier,
  hashKey,
  keyPrincipal,
  signToken,
  unauthorized,
  verifyClaims,
} from '../src/index.ts'

const secret = 'a-secret-of-at-least-thirty-two-characters'
const trust = { projectRef: 'demo', jwtSecret: secret, audiences: [] }
const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Texts other than the canonical one that lenient decoders read as the same bytes. */
function spellingsOf(part: string): string[] {
  const bytes = Buffer.from(part, 'base64url')
  const found = new Set<string>()
  for (const last of ALPHABET) found.add(part.slice(0, -1) + last)
  for (const end of ['=', '==', '===', ' ', '\t', '\n', '%3D']) found.add(part + end)
  for (let i = 0; i <= part.length; i++)
    for (const blank of [' ', '\t', '\r\n', '=']) found.add(part.slice(0, i) + blank + part.slice(i))
  found.add(part.replaceAll('-', '+').replaceAll('_', '/'))
  found.delete(part)
  return [...found].filter((text) => Buffer.from(text, 'base64url').equals(bytes))
}

function spellings(token: string): string[] {
  const parts = token.split('.')
  return parts.flatMap((part, i) => spellingsOf(part).map((text) => parts.with(i, text).join('.')))
}

/** Tokens whose parts end with each number of unused bits, and whose signatures have `-` and `_`. */
const tokens = await Promise.all(
  Array.from({ length: 12 }, (_, i) =>
    signToken({ ref: 'demo', role: 'anon', pad: 'x'.repeat(i), url: 'files/a.txt', use: 'read' }, secret, 3600),
  ),
)

test('a token is accepted in its canonical spelling alone', async () => {
  const verify = createVerifier({ trust })
  for (const token of tokens) {
    expect(await verify(token)).toMatchObject({ role: 'anon' })
    expect(await verifyClaims(token, secret)).toMatchObject({ use: 'read' })
    const all = spellings(token)
    expect(all.length).toBeGreaterThan(100)
    for (const text of all) {
      await expect(verify(text)).rejects.toMatchObject({ code: 'UNAUTHORIZED', kind: 'unauthenticated' })
      await expect(verifyClaims(text, secret)).rejects.toMatchObject({ code: 'UNAUTHORIZED' })
    }
  }
})

test('a revoked token is refused in every spelling, and a stored one is known by its canonical spelling', async () => {
  for (const token of tokens) {
    const revoked = hashKey(token)
    const findStoredKey = (sha256: string) => {
      if (sha256 === revoked) throw unauthorized({ reason: 'revoked' })
      return Promise.resolve(null)
    }
    const verify = createVerifier({ findStoredKey, trust })
    for (const text of [token, ...spellings(token)]) {
      await expect(verify(text)).rejects.toMatchObject({ kind: 'unauthenticated' })
      expect(hashKey(text)).toBe(revoked)
    }
  }
})

test('both headers want the same spelling', async () => {
  const verify = createVerifier({ trust })
  const token = tokens[0] as string
  expect(await authenticateBoth({ apikey: token, bearer: token }, verify)).toMatchObject({ role: 'anon' })
  for (const text of spellings(token))
    await expect(authenticateBoth({ apikey: token, bearer: text }, verify)).rejects.toMatchObject({
      kind: 'unauthenticated',
    })
})

test('an opaque key is the text that it is', async () => {
  const keys = ['a.b.c', 'sb_secret_x==', 'e30.e30'].map((key) => ({
    key,
    sha256: createHash('sha256').update(key).digest('hex'),
  }))
  const verify = createVerifier({
    keys: keys.map(({ sha256 }) => ({ sha256, principal: keyPrincipal('service_role', { projectRef: 'demo' }) })),
  })
  for (const { key, sha256 } of keys) {
    expect(hashKey(key)).toBe(sha256)
    expect(await verify(key)).toMatchObject({ role: 'service_role' })
  }
})

test('the second signature of a revoked ES256 token is refused as the first', async () => {
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const { privateKey, publicKey } = await generateKeyPair('ES256')
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256' }
  const token = await new SignJWT({ ref: 'demo', role: 'anon' })
    .setProtectedHeader({ alg: 'ES256', kid: 'k1' })
    .setExpirationTime('1h')
    .sign(privateKey)
  const [header = '', payload = '', signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  bytes.write(s.toString(16).padStart(64, '0'), 32, 'hex')
  const twin = `${header}.${payload}.${bytes.toString('base64url')}`
  // A verifier that follows RFC 7515 accepts it.
  expect((await jwtVerify(twin, publicKey)).payload).toMatchObject({ role: 'anon' })
  const revoked = hashKey(token)
  const verify = createVerifier({
    findStoredKey: (sha256) => {
      if (sha256 === revoked) throw unauthorized({ reason: 'revoked' })
      return Promise.resolve(null)
    },
    trust: { projectRef: 'demo', jwks: createLocalJWKSet({ keys: [jwk] }), audiences: [] },
  })
  await expect(verify(token)).rejects.toMatchObject({ message: expect.stringContaining('revoked') as string })
  await expect(verify(twin)).rejects.toMatchObject({ message: expect.stringContaining('revoked') as string })
})
