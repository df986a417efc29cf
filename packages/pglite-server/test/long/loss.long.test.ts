import { expect, test } from 'vitest'
import { startPgliteServer } from '../../src/index.ts'
import { connect, openPool } from '../clients.ts'
import { openFolder } from './server-process.ts'

test('an engine that crashes or hears nothing is replaced, and what was acknowledged is there', async () => {
  await using folder = await openFolder()
  await using server = await startPgliteServer({ dataDir: folder.path, limits: { stuckMs: 500 } })
  await using pool = openPool(server.url)
  await pool.query('create table kept (n int)')
  // An internal function that gets a number instead of an address reads beyond its memory.
  await pool.query(`create function crash(int) returns int language internal as 'textlen'`)
  const counts = async () => (await pool.query('select array_agg(n order by n) as n from kept')).rows[0]

  const ends: Record<string, string> = {
    // A single call of the host, which cannot be interrupted.
    'is deaf': `set statement_timeout = '100ms'; select terrane_nap(600)`,
    crashes: 'select crash(2000000000)',
  }
  let n = 0
  for (const [, statement] of Object.entries(ends)) {
    await using other = await connect(server.url)
    await other.query('begin')
    await other.query('insert into kept values (-1)')
    await other.query('rollback')
    await pool.query('insert into kept values ($1)', [++n])
    await using victim = await connect(server.url)
    await expect(victim.query(statement)).rejects.toMatchObject({ code: '57P01' })
    await expect.poll(() => other.last).toMatchObject({ code: '57P01' })
    expect(await counts()).toEqual({ n: Array.from({ length: n }, (_, i) => i + 1) })
  }
})
