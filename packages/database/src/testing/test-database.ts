import type { Database } from '../database.ts'

/** A migrated database of the test's own: a PGlite instance, or a database on the server of DATABASE_URL. */
export interface TestDatabase extends AsyncDisposable {
  readonly url: string
  readonly database: Database
}
