import { startPgliteServer } from '@terrane/pglite-server'
import { Client } from 'pg'

/** Writes a row into the database of a folder. Returns the number of its rows. */
export async function countVisit(dataDir: string): Promise<number> {
  await using server = await startPgliteServer({ dataDir, sync: 'commit' })
  const client = new Client({ connectionString: server.url })
  await client.connect()
  await client.query('create table if not exists visits (at timestamptz not null)')
  await client.query('insert into visits values (now())')
  const { rows } = await client.query<{ visits: number }>('select count(*)::int as visits from visits')
  await client.end()
  return rows[0]?.visits ?? 0
}
