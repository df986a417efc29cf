import { expect, test } from 'vitest'
import { openTestDatabase, testLane } from '../testing/test-database.ts'

test.runIf(testLane() === 'pglite')('the embedded database refuses encodings other than UTF8 and goes on', async () => {
  await using db = await openTestDatabase()
  for (const sql of [`set client_encoding = 'LATIN1'`, `set names 'WIN1252'`, `select convert_to('a', 'EUC_JP')`]) {
    await expect(db.database.query(sql)).rejects.toMatchObject({ code: expect.stringMatching(/^(22023|42883|0A000)$/) })
  }
  await db.database.query(`set client_encoding = 'UTF8'`)
  const { rows } = await db.database.query(`select 'é' as letter`)
  expect(rows).toEqual([{ letter: 'é' }])
})
