import { randomBytes } from 'node:crypto'
import { openDatabase, quoteIdentifier } from '../database.ts'
import { migrate } from '../migrate.ts'
import { fingerprint } from './fingerprint.ts'
import type { TestDatabase } from './test-database.ts'

/** Names of the templates that this process has found or made, by the URL of their server. */
const templates = new Map<string, Promise<string>>()

/** Creates a database on the server from the template of this version. */
export async function createOnServer(server: string): Promise<TestDatabase> {
  const template = templates.get(server) ?? prepareTemplate(server)
  templates.set(server, template)
  const name = `terrane_test_${Date.now().toString(36)}_${randomBytes(4).toString('hex')}`
  await administer(server, `create database ${quoteIdentifier(name)} template ${quoteIdentifier(await template)}`)
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

/** Makes the template if it is missing; returns its name. One process at a time makes it; the others wait. */
async function prepareTemplate(server: string): Promise<string> {
  const name = `terrane_template_${await fingerprint()}`
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
  return name
}

async function administer(server: string, statement: string): Promise<void> {
  await using admin = await openDatabase({ url: server, max: 1, applicationName: 'test' })
  await admin.query(statement)
}

function withDatabase(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}
