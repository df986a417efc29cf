import { openDatabase } from '@terrane/database'
import { bulkLoad, type Row } from '@terrane/database/bulk-load'
import { beginRun, stagedTable, swapIn } from '@terrane/database/staging'

/** Fills a table and publishes it only when it is complete; fails when a table of that name exists. */
export async function publishPlaces(url: string, jobId: string, places: readonly Row[]): Promise<void> {
  await using database = await openDatabase({ url, applicationName: 'places' })
  const run = await beginRun(database, jobId)
  const table = stagedTable(run, 0, 'public', 'places')
  await database.query(`create table terrane_staging.${table.staging} (name text not null, people integer)`)
  const columns = [{ name: 'name', type: 'text' }, { name: 'people', type: 'int4' }] as const // prettier-ignore
  await bulkLoad(database, { schema: 'terrane_staging', table: table.staging, columns }, [places])
  await swapIn(database, run, [table], { rows: places.length })
}
