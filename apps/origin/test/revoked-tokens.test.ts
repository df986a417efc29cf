import { Keys } from '@terrane/control'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin, settingsOf } from './harness.ts'

let plain: TestOrigin
let origin: TestOrigin
let keys: Keys
beforeAll(async () => {
  plain = await openOrigin()
  const env = { TERRANE_CONTROL_DATABASE_URL: plain.db.url, ...settingsOf({}, { keys: { cacheMs: 0 } }) }
  origin = await openOrigin(env, plain)
  keys = new Keys(plain.db.database, null)
})
afterAll(async () => {
  await origin[Symbol.asyncDispose]()
  await plain[Symbol.asyncDispose]()
})

test('the URL of a private object ends when its token is revoked, and others go on', async () => {
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('private', { public: false })
  await storage.from('private').upload('a.txt', Buffer.from('a'))
  const sign = async () => (await storage.from('private').createSignedUrl('a.txt', 60)).data!.signedUrl
  const [first, second] = [await sign(), await sign()]
  expect([(await fetch(first)).status, (await fetch(second)).status]).toEqual([200, 200])
  await keys.revokeTokens({ token: new URL(first).searchParams.get('token')! })
  expect([(await fetch(first)).status, (await fetch(second)).status]).toEqual([401, 200])
})

test('the token of a user ends in the REST interface', async () => {
  const ask = () =>
    fetch(`${origin.url}/rest/v1/embeddings_catalogue`, {
      headers: { apikey: origin.keys.user, 'accept-profile': 'geoembeddings' },
    })
  expect((await ask()).status).toBe(200)
  await keys.revokeTokens({ token: origin.keys.user })
  expect((await ask()).status).toBe(401)
})
