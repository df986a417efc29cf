import { Client } from 'pg'
import { expect, test } from 'vitest'
import { startEmbeddedDatabase } from '../../src/index.ts'
import { openScripts, runAlone, runTogether } from '../session-scripts.ts'

// oxlint-disable-next-line node/no-process-env -- asked for by whoever runs the tests
const SESSIONS = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 2000 : 300

test(`${SESSIONS} random sessions of 20 clients at once answer as each does alone`, { timeout: 600_000 }, async () => {
  await using embedded = await startEmbeddedDatabase()
  const client = new Client({ connectionString: embedded.url })
  await client.connect()
  await client.query('create role reader; create role writer; create schema other')
  await client.end()
  const scripts = openScripts(SESSIONS, 23)
  const alone = await runAlone(embedded.url, scripts)
  expect(await runTogether(embedded.url, scripts, 20, 29)).toEqual(alone)
})
