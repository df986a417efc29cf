import { writeFile } from 'node:fs/promises'
import type { ExportFormat, JobWarning } from '@terrane/contracts'
import { Warnings } from '@terrane/core/errors'
import type { Database } from '@terrane/database'
import { scan } from '@terrane/database/scan'
import { fileBytes, findTable, readSystems, rowsFor, withTypes, writeFlatGeobuf, writeGpkg } from '../src/index.ts'

/** Formats that this package writes, and FlatGeobuf with an index. */
export const WRITTEN = [
  'GeoJSON',
  'GeoJSONSeq',
  'CSV',
  'GeoParquet',
  'FlatGeobuf',
  'FlatGeobuf with an index',
  'GeoPackage',
] as const
export type Written = (typeof WRITTEN)[number]

/** Exports a table into a file; returns what was lost. */
export async function exportFile(
  database: Database,
  table: string,
  written: Written,
  path: string,
): Promise<JobWarning[]> {
  const isIndexed = written === 'FlatGeobuf with an index'
  const format: Exclude<ExportFormat, 'Shapefile'> = isIndexed ? 'FlatGeobuf' : written
  const source = await withTypes(database, await findTable(database, { schema: 'public', table }), format)
  const losses = new Warnings()
  const rows = rowsFor(source, format, (...asked) => scan(database, ...asked), losses)
  if (isIndexed) await writeFlatGeobuf(source, rows, { path, signal: new AbortController().signal }, losses)
  else if (format === 'GeoPackage') await writeGpkg(await readSystems(database, source), source, rows, path, losses)
  else await writeFile(path, fileBytes(source, format, rows, losses))
  return losses.list()
}
