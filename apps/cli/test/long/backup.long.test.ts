import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '@terrane/database'
import { startPgliteServer } from '@terrane/pglite-server'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { openStore, type ObjectStore } from '@terrane/storage'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { COMMANDS } from '../../src/commands/all.ts'
import { run } from '../../src/run.ts'

let own: TestDatabase
let folder: string
beforeAll(async () => {
  own = await openTestDatabase()
  folder = await mkdtemp(join(tmpdir(), 'terrane-backup-'))
})
afterAll(async () => {
  await own[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const inFolder = (name: string) => join(folder, name)
async function* bytes(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text)
}
async function contents(store: ObjectStore, bucket: string) {
  const found: Record<string, unknown> = {}
  for await (const { key } of store.list(bucket, '')) {
    const { info, body } = await store.get(bucket, key)
    const chunks: Uint8Array[] = []
    for await (const chunk of body) chunks.push(chunk)
    found[key] = [Buffer.concat(chunks).toString(), info.contentType, info.metadata]
  }
  return found
}

/** Runs a command on an installation whose home is a folder; returns its exit code and its standard error. */
async function terrane(home: string, databaseUrl: string, ...args: string[]) {
  vi.stubEnv('TERRANE_HOME', inFolder(home))
  vi.stubEnv('DATABASE_URL', databaseUrl)
  const said: string[] = []
  const spy = vi.spyOn(process.stderr, 'write').mockImplementation((text) => said.push(String(text)) > 0)
  try {
    return [await run(args, COMMANDS), said.join('')] as const
  } finally {
    spy.mockRestore()
    vi.unstubAllEnvs()
  }
}

/**
 * An empty target for a database: a new database of the server, or an empty URL, for which the command makes an
 * embedded one.
 */
async function openTarget(): Promise<{ readonly url: string } & AsyncDisposable> {
  if (testLane() === 'pglite') return { url: '', [Symbol.asyncDispose]: async () => {} }
  const name = `terrane_test_restore_${randomBytes(4).toString('hex')}`
  await own.database.query(`create database ${name}`)
  const url = new URL(own.url)
  url.pathname = `/${name}`
  return {
    url: url.href,
    [Symbol.asyncDispose]: async () => void (await own.database.query(`drop database ${name} with (force)`)),
  }
}

test('what was backed up while in use is restored as it was, into an empty installation only', async () => {
  const storage = openStore(`file:${inFolder('old/storage')}`)
  const archives = openStore(`file:${inFolder('old/functions/archives')}`)
  const rules = { public: true, fileSizeLimit: 1000, allowedMimeTypes: ['text/*'] }
  await storage.createBucket('maps', rules)
  await storage.put('maps', 'a/b ö.txt', bytes('a map'), { contentType: 'text/plain', metadata: { by: 'me' } })
  await storage.put('maps', 'empty', bytes(''))
  await archives.createBucket('functions', { public: false, fileSizeLimit: null, allowedMimeTypes: null })
  await archives.put('functions', 'hello/1.tar', bytes('an archive'))
  await mkdir(inFolder('old'), { recursive: true })
  await writeFile(inFolder('old/keys.json'), '{"jwtSecret": "s"}')
  await own.database.query(`create table public.places (id int primary key, t text, g geometry);
    insert into public.places select n, repeat('x', n), st_makepoint(n, n) from generate_series(1, 1000) n`)

  const saved = await terrane('old', own.url, 'backup', '--to', inFolder('saved'))
  expect(saved).toEqual([0, expect.stringContaining('3 objects')])
  expect(await terrane('old', own.url, 'backup', '--to', inFolder('saved'))).toEqual([
    1,
    expect.stringContaining('not empty'),
  ])
  // Later rows are not in the backup.
  await own.database.query(`insert into public.places values (1001, 'later', null)`)

  const full = await terrane('new', own.url, 'restore', '--from', inFolder('saved'))
  expect(full).toEqual([1, expect.stringContaining('The database is not empty')])
  await expect(stat(inFolder('new/storage'))).rejects.toThrow('ENOENT')

  await using target = await openTarget()
  expect(await terrane('new', target.url, 'restore', '--from', inFolder('saved'))).toEqual([
    0,
    expect.stringContaining('3 objects'),
  ])
  const restored = openStore(`file:${inFolder('new/storage')}`)
  expect(await restored.getBucket('maps')).toMatchObject(rules)
  expect(await contents(restored, 'maps')).toEqual(await contents(storage, 'maps'))
  expect(await contents(openStore(`file:${inFolder('new/functions/archives')}`), 'functions')).toEqual(
    await contents(archives, 'functions'),
  )
  expect(await readFile(inFolder('new/keys.json'), 'utf8')).toBe('{"jwtSecret": "s"}')
  expect((await stat(inFolder('new/keys.json'))).mode & 0o777).toBe(0o600)
  await using embedded = target.url === '' ? await startPgliteServer({ dataDir: inFolder('new/pglite') }) : null
  await using database = await openDatabase({ url: embedded?.url ?? target.url, max: 1 })
  const sum = 'select count(*), md5(string_agg(p::text, $1 order by id)) from public.places p where id <= 1000'
  expect((await database.query(sum, [','])).rows).toEqual((await own.database.query(sum, [','])).rows)
  expect((await database.query('select count(*) as n from public.places')).rows).toEqual([{ n: 1000 }])
  await database.close()

  const again = await terrane('new', target.url, 'restore', '--from', inFolder('saved'))
  expect(again).toEqual([1, expect.stringContaining('is not empty')])
})

test('a database is not moved to a URL whose password everybody could read', async () => {
  const args = ['database', 'move', '--to', 'postgres://me:secret@127.0.0.1:1/x']
  expect(await terrane('old', own.url, ...args)).toEqual([1, expect.not.stringContaining('secret')])
})
