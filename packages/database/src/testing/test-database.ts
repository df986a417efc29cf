import type { Database } from '../database.ts'
import { borrowEmbedded } from './embedded-lane.ts'
import { createOnServer } from './server-lane.ts'

/** A migrated database of the test's own: a PGlite instance, or a database on the server of DATABASE_URL. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  readonly database: Database
}

/**
 * Makes a database with every migration applied. It is dropped when disposed of; with TERRANE_TEST_KEEP set it stays on
 * the server, and its name is printed.
 */
export async function openTestDatabase(): Promise<TestDatabase> {
  const server = serverUrl()
  return server === null ? borrowEmbedded() : createOnServer(server)
}

/** Which lane the tests run in. */
export function testLane(): 'postgres' | 'pglite' {
  return serverUrl() === null ? 'pglite' : 'postgres'
}

function serverUrl(): string | null {
  // oxlint-disable-next-line node/no-process-env -- The documented switch between the two lanes.
  return process.env['DATABASE_URL'] || null
}
