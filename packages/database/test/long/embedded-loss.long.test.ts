import { Client } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { openDatabase, startEmbeddedDatabase } from '../../src/index.ts'
import { openFolder } from './embedded-process.ts'

test('an engine that crashes or hears nothing is replaced, and what was acknowledged is there', async () => {
  await using folder = await openFolder()
  await using embedded = await startEmbeddedDatabase({ dataDir: folder.path, limits: { stuckMs: 500 } })
  await using database = await openDatabase({ url: embedded.url, applicationName: 'loss' })
  await database.query('create table kept (n int)')
  // A function of the server that gets a number where it expects an address reads beyond its memory.
  await database.query(`create function crash(int) returns int language internal as 'textlen'`)
  const counts = async () => (await database.query('select array_agg(n order by n) as n from kept')).rows[0]

  const ends: Record<string, string> = {
    // One call of the host, which nothing interrupts.
    'is deaf': `set statement_timeout = '100ms'; select terrane_nap(600)`,
    crashes: 'select crash(2000000000)',
  }
  let n = 0
  for (const [, statement] of Object.entries(ends)) {
    const other = await open(embedded.url)
    await other.query('begin')
    await other.query('insert into kept values (-1)')
    await other.query('rollback')
    await database.query('insert into kept values ($1)', [++n])
    const victim = await open(embedded.url)
    await expect(victim.query(statement)).rejects.toMatchObject({ code: '57P01' })
    await expect.poll(() => other.last).toMatchObject({ code: '57P01' })
    expect(await counts()).toEqual({ n: Array.from({ length: n }, (_, i) => i + 1) })
  }
})

async function open(url: string): Promise<Client & { last: { code?: string } | null }> {
  const client = Object.assign(new Client({ connectionString: url }), { last: null as { code?: string } | null })
  client.on('error', (error: Error & { code?: string }) => (client.last ??= error))
  await client.connect()
  onTestFinished(() => client.end().catch(() => {}))
  return client
}
