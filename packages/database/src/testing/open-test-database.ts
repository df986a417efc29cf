import { borrowEmbedded } from './embedded-lane.ts'
import { createOnServer } from './server-lane.ts'
import type { TestDatabase } from './test-database.ts'

export type { TestDatabase } from './test-database.ts'

/**
 * Makes a database with every migration applied. It is dropped when disposed of; with TERRANE_TEST_KEEP set it stays on
 * the server, and its name is printed.
 */
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
