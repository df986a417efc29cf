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
const NOT_IN_DBASE = new Set(['json', 'time', 'timestamptz', 'bytea', 'bool'])

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
    case 'FlatGeobuf':
    case 'Shapefile':
      return convert(source, format, batches, work)
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

/** FlatGeobuf and Shapefile by way of a GeoPackage and the engine, which knows their indexes. */
async function convert(
  source: ExportSource,
  format: 'FlatGeobuf' | 'Shapefile',
  batches: AsyncIterable<readonly ExportRow[]>,
  work: ExportWork,
): Promise<string> {
  if (format === 'Shapefile') checkShapefile(source, work.warnings)
  const plain = format === 'FlatGeobuf' ? withTextTimes(source, work.warnings) : source
  const folder = join(work.workdir, 'package')
  const results = join(work.workdir, 'result')
  for (const path of [folder, results]) await mkdir(path)
  const file = 'export.gpkg'
  const own = format === 'Shapefile' ? limited(batches, work.warnings) : batches
  const facts = await writeGpkg(work.systems, plain, own, join(folder, file), work.warnings)
  if (facts.withEmptyParts > 0) work.warnings.add('EMPTY_PARTS_LEFT_OUT', EMPTY_PARTS, facts.withEmptyParts)
  const target = join(results, format === 'Shapefile' ? 'export.shz' : 'export.fgb')
  const shapes = source.geometry?.shapes ?? []
  const isMixed = shapes.length > 1
  const options = ['-f', format === 'Shapefile' ? 'ESRI Shapefile' : 'FlatGeobuf']
  if (format === 'Shapefile') options.push('-lco', 'ENCODING=UTF-8', ...(isMixed ? ['-nlt', 'PROMOTE_TO_MULTI'] : []))
  // A layer of several kinds would be flat: the engine asks its type, which says nothing of heights then.
  const isHigh = shapes.some((type) => Math.floor(type / 1000) % 2 === 1)
  if (format === 'FlatGeobuf' && isMixed && isHigh) options.push('-dim', 'XYZ')
  if (format === 'FlatGeobuf' && facts.hasNulls) {
    options.push('-lco', 'SPATIAL_INDEX=NO')
    const message = 'The file has no index, which would have no place for rows without a geometry.'
    work.warnings.add('INDEX_LEFT_OUT', message)
  }
  const conversion = { folder, file, driver: 'GPKG' as const, openOptions: [], layer: null, options, target }
  await work.engine.convert(conversion, work.workdir, work.signal)
  await stat(target)
  return target
}

/** The engine loses times before 1970 on their way into a FlatGeobuf, which has no dates without a time either. */
function withTextTimes(source: ExportSource, warnings: Warnings): ExportSource {
  const times = source.columns.filter(({ kind }) => kind === 'date' || kind === 'timestamptz').map(({ name }) => name)
  const message = 'Columns of dates and times became texts.'
  if (times.length > 0) warnings.add('TYPES_CHANGED', message, times.length, times)
  const columns = source.columns.map((column) =>
    times.includes(column.name) ? { ...column, kind: 'text' as const } : column,
  )
  return { ...source, columns }
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
