import { Client } from 'pg'
import { expect, test } from 'vitest'
import { startEmbeddedDatabase } from '../../src/index.ts'
import { openScripts, runAlone, runTogether } from '../session-scripts.ts'

test('2,000 random sessions of 20 clients at once answer as each does alone', { timeout: 600_000 }, async () => {
  await using embedded = await startEmbeddedDatabase()
  const client = new Client({ connectionString: embedded.url })
  await client.connect()
  await client.query('create role reader; create role writer; create schema other')
  await client.end()
  const scripts = openScripts(2000, 23)
  const alone = await runAlone(embedded.url, scripts)
  expect(await runTogether(embedded.url, scripts, 20, 29)).toEqual(alone)
})
