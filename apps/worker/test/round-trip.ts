import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { EXPORT_FORMATS, type ExportFormat } from '@terrane/contracts'
import { seededRandom } from '@terrane/core'
import type { Database } from '@terrane/database'
import { scan } from '@terrane/database/scan'
import { findTable, readSystems, withTypes } from '@terrane/exports'
import { writeFile } from '../src/jobs/export/write-file.ts'
import { Warnings } from '@terrane/core/errors'
import { READ_HERE, importFile, type ImportResult } from './import-file.ts'
import { randomLayer } from './random-layer.ts'

/** Exports a table and imports the file again, all of it but its name unchanged. */
export async function roundTripOf(database: Database, table: string, format: ExportFormat) {
  const workdir = await mkdtemp(join(tmpdir(), 'terrane-export-'))
  const warnings = new Warnings()
  try {
    const source = await withTypes(database, await findTable(database, { schema: 'public', table }), format)
    const signal = new AbortController().signal
    const { path } = await writeFile(source, format, {
      scan: (...asked) => scan(database, ...asked),
      systems: await readSystems(database, source),
      engine: READ_HERE.engine,
      workdir,
      signal,
      warnings,
      onRows: () => {},
    })
    const bytes = await readFile(path)
    const result: ImportResult = await importFile(database, bytes, { promoteToMulti: false })
    return { made: result.tables[0]!, exported: warnings.list(), imported: result.warnings, bytes }
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}

const AS_ONE: Readonly<Record<string, string>> = { list: 'to_jsonb(list)', at: 'at::timestamptz' }

/** Rows as texts of all columns that both tables have, in the order of `n`. */
export async function textsOfTable(
  database: Database,
  table: string,
  columns: readonly string[],
  geometry: string,
): Promise<unknown[]> {
  // Lists come back as JSON, times of some formats as texts.
  const texts = columns.map((name) => `${AS_ONE[name] ?? `"${name}"`}::text as "${name}"`)
  const list = [...texts, `${geometry} as shape`]
  const { rows } = await database.query(`select ${list.join(', ')} from ${table} order by n`)
  return rows
}

/** Exports and imports a random layer; returns the rows that changed, each with its original. */
export async function randomRoundTrip(database: Database, format: ExportFormat, seed: number): Promise<unknown[]> {
  const layer = randomLayer(seededRandom(seed * 1000 + EXPORT_FORMATS.indexOf(format)), format)
  const table = `layer_${format.toLowerCase()}_${seed}`
  await database.query(layer.sqlFor(table))
  const { made } = await roundTripOf(database, table, format)
  // Nulls among the texts of a CSV are empty texts, which the export says.
  const names = ['n', ...layer.columns.filter((name) => format !== 'CSV' || name !== 'words')]
  const shape = `st_asewkt(${format === 'Shapefile' ? 'st_multi(geom)' : 'geom'})`
  const [before, after] = [
    await textsOfTable(database, table, names, shape),
    await textsOfTable(database, made.table, names, shape),
  ]
  return before.flatMap((row, i) => (isDeepStrictEqual(row, after[i]) ? [] : [[seed, row, after[i]]]))
}
