import { expect, test } from 'vitest'
import { startPgliteServer } from '../../src/index.ts'
import { connect } from '../clients.ts'
import { openScripts, runAlone, runTogether } from '../session-scripts.ts'

// oxlint-disable-next-line node/no-process-env -- A switch for the person who runs the tests.
const SESSIONS = process.env['TERRANE_TEST_ALL_FAULTS'] === '1' ? 2000 : 300

test(`${SESSIONS} random sessions of 20 clients at once answer as each does alone`, { timeout: 600_000 }, async () => {
  await using server = await startPgliteServer()
  const client = await connect(server.url)
  await client.query('create role reader; create role writer; create schema other')
  await client.end()
  const scripts = openScripts(SESSIONS, 23)
  const alone = await runAlone(server.url, scripts)
  expect(await runTogether(server.url, scripts, 20, 29)).toEqual(alone)
})
