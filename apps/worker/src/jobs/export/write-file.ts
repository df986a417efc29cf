import { createWriteStream } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ExportFormat } from '@terrane/contracts'
import {
  EMPTY_PARTS,
  fileBytes,
  rowsFor,
  writeFlatGeobuf,
  writeGpkg,
  type ExportRow,
  type ExportSource,
  type ReferenceSystem,
  type Scanner,
} from '@terrane/exports'
import type { Engine } from '../ogr/engine.ts'
import type { Warnings } from '../warnings.ts'
import { oneKindOnly } from './errors.ts'

/** What the types of ISO WKB are in a Shapefile, from 1. A point is one kind, several of them another. */
const SHAPEFILE_KINDS = ['points', 'lines', 'polygons', 'multi points', 'lines', 'polygons', 'collections']
const LONGEST_NAME = 10
const LONGEST_TEXT = 254
/** What a dBASE file has no type for. */
const NOT_IN_DBASE = new Set(['json', 'time', 'timestamp', 'timestamptz', 'bytea', 'bool'])

/** What an export needs besides its source. */
export interface ExportWork {
  readonly scan: Scanner
  readonly systems: readonly ReferenceSystem[]
  readonly engine: Engine
  readonly workdir: string
  readonly signal: AbortSignal
  readonly warnings: Warnings
  readonly onRows: (rows: number) => void
}

/**
 * Writes a table or query as a file of a format. Returns where it lies and how many rows it has. What the format cannot hold is counted in the warnings.
 *
 * @throws FORMAT_TAKES_ONE_KIND, CONVERSION_FAILED
 */
export async function writeFile(
  source: ExportSource,
  format: ExportFormat,
  work: ExportWork,
): Promise<{ readonly path: string; readonly rows: number }> {
  const done = { rows: 0 }
  const batches = counted(rowsFor(source, format, work.scan, work.warnings), work, done)
  return { path: await write(source, format, batches, work), rows: done.rows }
}

async function write(
  source: ExportSource,
  format: ExportFormat,
  batches: AsyncIterable<ExportRow[]>,
  work: ExportWork,
): Promise<string> {
  const { workdir, warnings, signal, systems } = work
  switch (format) {
    case 'FlatGeobuf': {
      const path = join(workdir, 'export.fgb')
      await writeFlatGeobuf(source, batches, path, warnings)
      return path
    }
    case 'Shapefile':
      return convert(source, batches, work)
    case 'GeoPackage': {
      const path = join(workdir, 'export.gpkg')
      await writeGpkg(systems, source, batches, path, warnings)
      return path
    }
    default: {
      const path = join(workdir, 'export.bin')
      const bytes = Readable.from(fileBytes(source, format, batches, warnings))
      await pipeline(bytes, createWriteStream(path), { signal })
      return path
    }
  }
}

/** Shapefile by way of a GeoPackage and the engine. */
async function convert(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  work: ExportWork,
): Promise<string> {
  checkShapefile(source, work.warnings)
  const folder = join(work.workdir, 'package')
  const results = join(work.workdir, 'result')
  for (const path of [folder, results]) await mkdir(path)
  const file = 'export.gpkg'
  const rows = limited(batches, work.warnings)
  const facts = await writeGpkg(work.systems, source, rows, join(folder, file), work.warnings)
  if (facts.withEmptyParts > 0) work.warnings.add('EMPTY_PARTS_LEFT_OUT', EMPTY_PARTS, facts.withEmptyParts)
  const target = join(results, 'export.shz')
  const isMixed = (source.geometry?.shapes ?? []).length > 1
  const options = ['-f', 'ESRI Shapefile', '-lco', 'ENCODING=UTF-8', ...(isMixed ? ['-nlt', 'PROMOTE_TO_MULTI'] : [])]
  const conversion = { folder, file, driver: 'GPKG' as const, openOptions: [], layer: null, options, target }
  await work.engine.convert(conversion, work.workdir, work.signal)
  await stat(target)
  return target
}

/** @throws FORMAT_TAKES_ONE_KIND */
function checkShapefile({ geometry, columns }: ExportSource, warnings: Warnings): void {
  const kinds = new Set((geometry?.shapes ?? []).map((shape) => SHAPEFILE_KINDS[(shape % 1000) - 1] ?? 'others'))
  if (kinds.size > 1 || kinds.has('collections') || kinds.has('others'))
    throw oneKindOnly({ format: 'Shapefile', kinds: [...kinds].toSorted() })
  const long = columns.filter(({ name }) => Buffer.byteLength(name) > LONGEST_NAME).map(({ name }) => name)
  if (long.length > 0) warnings.add('NAMES_SHORTENED', 'Names of columns have ten bytes at most.', long.length, long)
  const changed = columns.filter(({ kind }) => NOT_IN_DBASE.has(kind)).map(({ name }) => name)
  const message = 'Columns of types that a Shapefile lacks became texts or numbers, or were left out.'
  if (changed.length > 0) warnings.add('TYPES_CHANGED', message, changed.length, changed)
}

/** Counts the texts that a Shapefile cuts. */
async function* limited(batches: AsyncIterable<readonly ExportRow[]>, warnings: Warnings) {
  let row = 0
  for await (const rows of batches) {
    for (const { values } of rows) {
      row++
      const isLong = values.some((value) => typeof value === 'string' && Buffer.byteLength(value) > LONGEST_TEXT)
      if (isLong) warnings.count('TEXT_CUT', `Texts of more than ${LONGEST_TEXT} bytes were cut.`, row)
    }
    yield rows
  }
}

async function* counted(batches: AsyncIterable<ExportRow[]>, { signal, onRows }: ExportWork, done: { rows: number }) {
  for await (const rows of batches) {
    signal.throwIfAborted()
    yield rows
    onRows((done.rows += rows.length))
  }
}
