import { borrowEmbedded } from './embedded-lane.ts'
import { createOnServer } from './server-lane.ts'
import type { TestDatabase } from './test-database.ts'

export type { TestDatabase } from './test-database.ts'

/** Makes a migrated database, dropped on disposal; TERRANE_TEST_KEEP keeps it on the server and prints its name. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const server = serverUrl()
  return server === null ? borrowEmbedded() : createOnServer(server)
}

/** Database engine of this test run. */
export function testLane(): 'postgres' | 'pglite' {
  return serverUrl() === null ? 'pglite' : 'postgres'
}

function serverUrl(): string | null {
  // oxlint-disable-next-line node/no-process-env -- The documented switch between the two lanes.
  return process.env['DATABASE_URL'] || null
}
