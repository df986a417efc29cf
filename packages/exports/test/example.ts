import type { Warnings } from '@terrane/core/errors'
import type { Database } from '@terrane/database'
import { scan } from '@terrane/database/scan'
import { fileBytes, findTable, rowsFor } from '@terrane/exports'

/** The GeoJSON of a table, piece by piece; what the format cannot hold is in `losses`. */
export async function* geoJsonOf(
  database: Database,
  table: string,
  losses: Warnings,
): AsyncGenerator<Uint8Array | string> {
  const source = await findTable(database, { schema: 'public', table })
  const rows = rowsFor(source, 'GeoJSON', (...query) => scan(database, ...query), losses)
  yield* fileBytes(source, 'GeoJSON', rows, losses)
}
