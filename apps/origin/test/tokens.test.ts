import { afterAll, beforeAll, expect, test } from 'vitest'
import { openOrigin, type TestOrigin } from './harness.ts'

let origin: TestOrigin
beforeAll(async () => {
  origin = await openOrigin()
  await origin.db.database.query(`
    create table public.spots (id int primary key, geom geometry(Point, 4326));
    insert into public.spots values (1, 'SRID=4326;POINT(11.5 48.1)');
    grant select on public.spots to anon, authenticated;`)
  const { storage } = origin.client(origin.keys.service)
  await storage.createBucket('closed', { public: false })
  await storage.from('closed').upload('a.txt', Buffer.from('text'))
})
afterAll(() => origin[Symbol.asyncDispose]())

/** Texts that lenient decoders of base64url read as the same token. */
function spellingsOf(token: string): string[] {
  const [header = '', payload = '', signature = ''] = token.split('.')
  const bytes = Buffer.from(signature, 'base64url')
  const last = Array.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_')
    .map((letter) => signature.slice(0, -1) + letter)
    .find((text) => text !== signature && Buffer.from(text, 'base64url').equals(bytes))
  return [`${header}.${payload}.${last}`, `${token}=`, `${header}.${payload}=.${signature}`]
}

test('a token in another spelling is 401 for tables, tiles, exports and files', async () => {
  const paths = [
    '/rest/v1/spots',
    '/vector/v1/public.spots',
    '/export/v1/public.spots',
    '/storage/v1/object/closed/a.txt',
    '/raster/v1/info?url=storage://closed/a.txt',
  ]
  for (const [name, key] of Object.entries(origin.keys)) {
    for (const text of spellingsOf(key)) {
      for (const path of paths) {
        for (const headers of [
          { apikey: text },
          { authorization: `Bearer ${text}` },
          { apikey: key, authorization: `Bearer ${text}` },
        ]) {
          const answer = await fetch(origin.url + path, { headers })
          await answer.text()
          expect([name, path, answer.status]).toEqual([name, path, 401])
        }
      }
    }
  }
  expect((await fetch(`${origin.url}/rest/v1/spots`, { headers: { apikey: origin.keys.user } })).status).toBe(200)
})

test('a signed URL is good in the spelling that it was issued in', async () => {
  const { data } = await origin.client(origin.keys.service).storage.from('closed').createSignedUrl('a.txt', 60)
  const url = new URL(data?.signedUrl ?? '')
  const token = url.searchParams.get('token') ?? ''
  expect((await fetch(url)).status).toBe(200)
  for (const text of [...spellingsOf(token), ` ${token}`, `${token}\n`]) {
    url.searchParams.set('token', text)
    expect([text, (await fetch(url)).status]).toEqual([text, 401])
  }
})
