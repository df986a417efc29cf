import { createHash, randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { openDatabase, quoteIdentifier, type Database } from '../database.ts'
import { startEmbeddedDatabase } from '../embedded/embedded.ts'
import { migrate } from '../migrate.ts'

/** A migrated database of the test's own: a PGlite instance, or a database on the server of DATABASE_URL. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  readonly database: Database
}

const CACHE = new URL('../../../../.cache/', import.meta.url)

/**
 * Makes a database with every migration applied. It is dropped when disposed of; with TERRANE_TEST_KEEP set it stays on
 * the server, and its name is printed.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const server = serverUrl()
  return server === null ? openEmbedded() : openOnServer(server)
}

/** Which lane the tests run in. */
export function testLane(): 'postgres' | 'pglite' {
  return serverUrl() === null ? 'pglite' : 'postgres'
}

/** Prepares what {@link openTestDatabase} copies: once per run, before any test. */
export async function prepareTestDatabases(): Promise<void> {
  const server = serverUrl()
  if (server !== null) await prepareTemplate(server)
  else if (!existsSync(await snapshotPath())) await prepareSnapshot()
}

async function openEmbedded(): Promise<TestDatabase> {
  const path = await snapshotPath()
  if (!existsSync(path)) await prepareSnapshot()
  const embedded = await startEmbeddedDatabase({ snapshot: await readFile(path) })
  const database = await openDatabase({ url: embedded.url, applicationName: 'test' })
  return {
    url: embedded.url,
    database,
    [Symbol.asyncDispose]: async () => {
      await database.close()
      await embedded.close()
    },
  }
}

async function openOnServer(server: string): Promise<TestDatabase> {
  await prepareTemplate(server)
  const name = `terrane_test_${Date.now().toString(36)}_${randomBytes(4).toString('hex')}`
  await administer(server, `create database ${quoteIdentifier(name)} template ${quoteIdentifier(await templateName())}`)
  const url = withDatabase(server, name)
  const database = await openDatabase({ url, applicationName: 'test' })
  return {
    url,
    database,
    [Symbol.asyncDispose]: async () => {
      await database.close()
      // oxlint-disable-next-line node/no-process-env -- A switch for the person who runs the tests.
      if (process.env['TERRANE_TEST_KEEP']) process.stderr.write(`kept database ${name}\n`)
      else await administer(server, `drop database if exists ${quoteIdentifier(name)} with (force)`)
    },
  }
}

async function prepareSnapshot(): Promise<void> {
  const path = await snapshotPath()
  await using embedded = await startEmbeddedDatabase()
  await using database = await openDatabase({ url: embedded.url, applicationName: 'test' })
  await migrate(database, ['control', 'project'])
  // Its pages lie in memory anyway; the server fills this cache with zeros at every start.
  await database.query(`alter system set shared_buffers = '16MB'`)
  await mkdir(CACHE, { recursive: true })
  const temporary = `${path}.${randomBytes(4).toString('hex')}`
  await writeFile(temporary, await embedded.snapshot())
  await rename(temporary, path)
}

async function prepareTemplate(server: string): Promise<void> {
  const name = await templateName()
  await using admin = await openDatabase({ url: server, max: 1, applicationName: 'test' })
  await admin.session(async (session) => {
    await session.query('select pg_advisory_lock(hashtext($1))', [name])
    const { rowCount } = await session.query('select 1 from pg_database where datname = $1', [name])
    if (!rowCount) {
      const building = `${name}_building`
      await session.query(`drop database if exists ${quoteIdentifier(building)} with (force)`)
      await session.query(`create database ${quoteIdentifier(building)}`)
      const database = await openDatabase({ url: withDatabase(server, building), max: 2, applicationName: 'test' })
      await migrate(database, ['control', 'project'])
      await database.close()
      await session.query(`alter database ${quoteIdentifier(building)} rename to ${quoteIdentifier(name)}`)
    }
    await session.query('select pg_advisory_unlock(hashtext($1))', [name])
  })
}

async function administer(server: string, statement: string): Promise<void> {
  await using admin = await openDatabase({ url: server, max: 1, applicationName: 'test' })
  await admin.query(statement)
}

/** A name that changes with the migrations: what was prepared from others is not used. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['../../migrations/', '../embedded/']) {
    const url = new URL(folder, import.meta.url)
    for (const entry of (await readdir(fileURLToPath(url), { recursive: true })).toSorted()) {
      if (/\.(sql|ts)$/.test(entry)) hash.update(await readFile(new URL(entry, url)))
    }
  }
  return hash.digest('hex').slice(0, 16)
}

async function snapshotPath(): Promise<string> {
  return fileURLToPath(new URL(`pglite-${await fingerprint()}.tar`, CACHE))
}

async function templateName(): Promise<string> {
  return `terrane_template_${await fingerprint()}`
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

function serverUrl(): string | null {
  // oxlint-disable-next-line node/no-process-env -- The documented switch between the two lanes.
  return process.env['DATABASE_URL'] || null
}
