import { openTestDatabase } from '@terrane/database/testing'
import { expect, test } from 'vitest'
import { openDatabase } from '../database.ts'
import { stagedPages } from './vector-pages.ts'

test('a staging table is read by pages in the order of ids, between which others have their turn', async () => {
  await using db = await openTestDatabase()
  await using other = await openDatabase({ url: db.url, max: 1 })
  const staged = { staging: 'j_pages_1_0' }
  await db.database.query(
    `create table terrane_staging.j_pages_1_0 as select ((i * 7) % 10) << 40 as id, i as n from generate_series(0, 9) i`,
  )
  const read: number[] = []
  const columns = [{ sql: 'id >> 40', type: 'int8' }] as const
  for await (const page of stagedPages(db.database, staged, [{ sql: 'id', type: 'int8' }, ...columns], 4)) {
    read.push(...(page.columns[1] as number[]))
    // On the embedded database this waits for ever while another client keeps the session.
    await other.query('insert into terrane_staging.j_pages_1_0 values (-5, 1)')
  }
  expect(read).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  const { rows } = await other.query(`select 1 from pg_indexes where tablename = 'j_pages_1_0'`)
  expect(rows).toEqual([])
})
