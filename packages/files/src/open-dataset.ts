import { join } from 'node:path'
import { Warnings } from '@terrane/core/errors'
import { convertDataset } from './convert-dataset.ts'
import type { Engine } from './engine.ts'
import { ENCODED_BY_ENGINE, WORKBOOKS, hasUnknownSystem, openReading, type OpenedDataset } from './open-reading.ts'
import type { ReadOptions } from './read-options.ts'
import { READ_FORMATS, type ReadFormat } from './read/protocol.ts'
import type { Reading, ReadingPlace } from './read/reading.ts'
import type { Dataset } from './unpack/find-datasets.ts'
import { shortFiles } from './unpack/short-files.ts'
import { readWithoutLog } from './unpack/write-ahead.ts'

/** Formats of tables, which may hold coordinates in their columns. */
const OF_COLUMNS: ReadonlySet<string> = new Set([...WORKBOOKS, 'CSV', 'Parquet', 'Arrow'])

/** Formats that may use reference systems known to the engine only. */
const KNOWN_BY_ENGINE: ReadonlySet<ReadFormat> = new Set(['GPKG', 'FlatGeobuf', 'ESRI Shapefile'])

/** Formats whose headers contain the size of their files. */
const TELLING_THEIR_SIZE: ReadonlySet<string> = new Set(['ESRI Shapefile', 'MapInfo File', 'OpenFileGDB', 'DGN'])

/**
 * Opens a data set with a reader of its format, or converts it with the engine first: other formats, Shapefiles that
 * are not plain, and files in reference systems known to the engine only.
 */
export async function openDataset(
  dataset: Dataset,
  engine: Engine,
  options: ReadOptions,
  place: ReadingPlace,
): Promise<OpenedDataset> {
  const notes = new Warnings()
  warnOfUnused(dataset, options, notes)
  if (dataset.driver === 'GPKG' && (await readWithoutLog(join(dataset.folder, dataset.file)))) {
    const message =
      'The GeoPackage was copied while a program had it open: changes that were still in its log, a file that ends in -wal, are not in it. Close the program and copy it again to be sure.'
    notes.add('LOG_MISSING', message)
  }
  await warnOfShort(dataset, notes)
  const reading = await openPlain(dataset, options, place)
  if (reading === null) return convertDataset({ dataset, engine, options, place, notes })
  return {
    reading,
    notes: notes.list(),
    layerNames: reading.layers.map(({ name }) => name),
    lostOf: () => 0,
    [Symbol.asyncDispose]: () => reading[Symbol.asyncDispose](),
  }
}

async function warnOfShort({ folder, file, driver }: Dataset, notes: Warnings): Promise<void> {
  if (!TELLING_THEIR_SIZE.has(driver)) return
  const short = await shortFiles(join(folder, file))
  const message =
    'Files are shorter than they say, as after a download that broke off: rows or shapes at their end are missing.'
  if (short.length > 0) notes.add('FILE_CUT_OFF', message, short.length, short)
}

/** A direct reading of a data set; null when only the engine can read it. */
async function openPlain(dataset: Dataset, options: ReadOptions, place: ReadingPlace): Promise<Reading | null> {
  const { folder, file, driver } = dataset
  // Several Shapefiles are one data set, which the engine opens as a whole.
  const format = file === '.' ? undefined : READ_FORMATS.find((known) => known === driver)
  if (format === undefined) return null
  const reading = await openReading({ path: join(folder, file), format }, withTypesOf(dataset, options), place)
  const isReadable = format !== 'ESRI Shapefile' || reading.layers.length > 0
  const isPlaced = !KNOWN_BY_ENGINE.has(format) || options.sourceSrs !== undefined || !hasUnknownSystem(reading.layers)
  if (isReadable && isPlaced) return reading
  await reading[Symbol.asyncDispose]()
  return null
}

/** Warns of options that have no effect on a file of this format. */
function warnOfUnused({ driver }: Dataset, { csv, encoding }: ReadOptions, notes: Warnings): void {
  const unused: string[] = []
  if (csv?.wkt !== undefined && driver !== 'CSV') unused.push('csv.wkt')
  if ((csv?.x ?? csv?.y) !== undefined && !OF_COLUMNS.has(driver)) unused.push('csv.x', 'csv.y')
  if (encoding !== undefined && driver !== 'CSV' && !ENCODED_BY_ENGINE.has(driver)) unused.push('encoding')
  if (unused.length === 0) return
  notes.add('OPTIONS_UNUSED', `A ${driver} file says itself what these fields are for.`, unused.length, unused)
}

/** The options with the types of the data set's kind; types of the request take precedence. */
function withTypesOf({ types }: Dataset, options: ReadOptions): ReadOptions {
  return types === undefined ? options : { ...options, types: { ...types, ...options.types } }
}
