import { generateKeyPairSync, sign, type KeyObject } from 'node:crypto'
import { createVerifier, signToken, verifyClaims, type CheckRevoked } from '@terrane/auth'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Keys, Organizations, Projects, openKeyring, type OpenKeyring } from '../src/index.ts'
import { keysOfProject } from '../src/project-keys.ts'
import { Revocations, type RevokedPage } from '../src/revoked-tokens.ts'

const SECRET = 'a-secret-of-at-least-thirty-two-characters'
const REFUSED = { code: 'UNAUTHORIZED', message: expect.stringContaining('revoked') as string }

describe(`revoked tokens (${testLane()})`, () => {
  let db: TestDatabase
  let keys: Keys
  let opened: OpenKeyring
  let lake: string
  let shore: string
  let kid: string
  let key: KeyObject
  let check: CheckRevoked
  let verify: (projectId: string) => ReturnType<typeof createVerifier>
  beforeAll(async () => {
    db = await openTestDatabase()
    keys = new Keys(db.database, null)
    const organizationId = (await new Organizations(db.database).create('Survey')).id
    const projects = new Projects(db.database, null)
    lake = (await projects.create({ organizationId, ref: 'lake', name: '' })).id
    shore = (await projects.create({ organizationId, ref: 'shore', name: '' })).id
    opened = openKeyring({
      connect: async () => db.database,
      settings: { cacheMs: 0, graceMs: 0 },
      log: { warn() {} },
    })
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    kid = 'key-of-may'
    key = pair.privateKey
    const jwks = () => Promise.resolve(pair.publicKey)
    const trust = { projectRef: 'lake', jwtSecret: SECRET, jwks, audiences: [] }
    verify = (projectId) => createVerifier({ ...keysOfProject(opened, projectId), trust })
    check = keysOfProject(opened, lake).checkRevoked
  })
  afterAll(async () => {
    await opened[Symbol.asyncDispose]()
    await db[Symbol.asyncDispose]()
  })

  const user = (claims: object = {}) => signToken({ sub: 'u', role: 'authenticated', ...claims }, SECRET, 600)
  const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signedByKey = (claims: object = {}) => {
    const exp = Math.floor(Date.now() / 1000) + 600
    const text = `${encode({ alg: 'ES256', kid })}.${encode({ sub: 'u', role: 'authenticated', exp, ...claims })}`
    return `${text}.${sign('sha256', Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
  }

  test('the token of a user ends by its text, also one that was accepted before', async () => {
    const door = verify(lake)
    const [token, other] = [await user(), await user()]
    await door(token)
    await keys.revokeTokens({ token })
    await keys.revokeTokens({ token })
    await expect(door(token)).rejects.toMatchObject(REFUSED)
    expect(await door(other)).toMatchObject({ subject: 'u' })
  })
  test('all tokens of an id end, also when signed anew, and tokens of other projects do not', async () => {
    const claims = { jti: 'session-7' }
    const tokens = [await user(claims), await user({ ...claims, more: 1 }), signedByKey(claims)]
    for (const token of tokens) await verify(lake)(token)
    await keys.revokeTokens({ kind: 'jti', id: 'session-7', projectId: lake })
    for (const token of tokens) {
      await expect(verify(lake)(token)).rejects.toMatchObject(REFUSED)
      expect(await verify(shore)(token)).toMatchObject({ subject: 'u' })
    }
  })
  test('a project key that is a registered token ends by its id as well', async () => {
    const token = await signToken({ ref: 'lake', role: 'service_role', jti: 'old-key' }, SECRET, 600)
    expect(await verify(lake)(token)).toMatchObject({ role: 'service_role' })
    await keys.revokeTokens({ kind: 'jti', id: 'old-key', projectId: lake })
    await expect(verify(lake)(token)).rejects.toMatchObject(REFUSED)
  })
  test('the second signature that anybody can make of an ES256 token ends with it', async () => {
    const token = signedByKey()
    const [header, payload, text] = token.split('.')
    const bytes = Buffer.from(text!, 'base64url')
    const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
    const s = (order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)).toString(16).padStart(64, '0')
    const twin = `${header}.${payload}.${Buffer.concat([bytes.subarray(0, 32), Buffer.from(s, 'hex')]).toString('base64url')}`
    expect(await verify(lake)(twin)).toMatchObject({ subject: 'u' })
    await keys.revokeTokens({ token })
    await expect(verify(lake)(twin)).rejects.toMatchObject(REFUSED)
  })
  test('all that a key has signed ends with the key', async () => {
    const token = signedByKey()
    await verify(lake)(token)
    await keys.revokeTokens({ kind: 'kid', id: kid, projectId: lake })
    await expect(verify(lake)(token)).rejects.toMatchObject(REFUSED)
    await expect(verify(lake)(signedByKey())).rejects.toMatchObject(REFUSED)
    expect(await verify(lake)(await user())).toMatchObject({ subject: 'u' })
  })
  test('the token of a signed URL ends', async () => {
    const signUrl = () => signToken({ url: 'files/a.txt', use: 'read' }, SECRET, 600)
    // Two URLs of one object that were signed in the same second are two tokens.
    const [token, other] = [await signUrl(), await signUrl()]
    expect(other).not.toBe(token)
    await keys.revokeTokens({ token })
    await expect(verifyClaims(token, SECRET, check)).rejects.toMatchObject(REFUSED)
    expect(await verifyClaims(other, SECRET, check)).toMatchObject({ use: 'read' })
  })
  test('what has ended by itself is not kept', async () => {
    const ended = await signToken({ sub: 'u', role: 'authenticated' }, SECRET, 1, new Date(Date.now() - 3 * 86_400_000))
    await keys.revokeTokens({ token: ended })
    await keys.revokeTokens({ token: await user() })
    const { rows } = await db.database.query(
      'select count(*)::int as n from terrane.revoked_tokens where expires_at < clock_timestamp()',
    )
    expect(rows).toEqual([{ n: 0 }])
  })
})

test('what is known holds for the grace, then nothing is accepted', async () => {
  let isDown = false
  let reads = 0
  const make = (graceMs: number) =>
    new Revocations({
      read: async () => {
        reads++
        if (isDown) throw new Error('no database')
        return { sha256: ['a'], until: new Date() }
      },
      cacheMs: 0,
      graceMs,
    })
  const [patient, impatient] = [make(3_600_000), make(0)]
  for (const known of [patient, impatient]) await known.check(() => ['b'])
  isDown = true
  await patient.check(() => ['b'])
  await expect(patient.check(() => ['a'])).rejects.toMatchObject(REFUSED)
  await expect(impatient.check(() => ['b'])).rejects.toMatchObject({ code: 'KEYS_UNAVAILABLE' })
  isDown = false
  await impatient.check(() => ['b'])
  // A failed read is followed by a pause, which a revocation ends.
  reads = 0
  await patient.check(() => ['b'])
  expect(reads).toBe(0)
  patient.forget()
  await Promise.all([patient.check(() => ['b']), patient.check(() => ['b'])])
  expect(reads).toBe(1)
})

test('a check after a revocation does not take the answer of a look that began before it', async () => {
  const answers: ((sha256: readonly string[]) => void)[] = []
  const read = () =>
    new Promise<RevokedPage>((resolve) => answers.push((sha256) => resolve({ sha256, until: new Date() })))
  const revoked = new Revocations({ read, cacheMs: 60_000, graceMs: 0 })
  const before = revoked.check(() => ['a'])
  revoked.forget()
  const after = revoked.check(() => ['a'])
  answers[1]!(['a'])
  await expect(after).rejects.toMatchObject(REFUSED)
  answers[0]!([])
  await before.catch(() => {})
  await expect(revoked.check(() => ['a'])).rejects.toMatchObject(REFUSED)
})
