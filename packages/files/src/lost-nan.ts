import { mkdtemp } from 'node:fs/promises'
import { join } from 'node:path'
import { TerraneError, type Warnings } from '@terrane/core/errors'
import type { Conversion, Engine } from './engine.ts'
import type { LayerSchema } from './feature-stream.ts'
import { openReading } from './open-reading.ts'
import type { MissingNumbers } from './read/protocol.ts'
import type { ReadingPlace } from './read/reading.ts'
import type { Driver } from './unpack/sniff.ts'

/** Formats with NaN that the engine reads. MapInfo has no null. */
export const MISSING_NUMBERS: Partial<Record<Driver, MissingNumbers>> = {
  'MapInfo File': 'NaN',
  OpenFileGDB: 'null or NaN',
  FlatGeobuf: 'null or NaN',
  'ESRI Shapefile': 'null or NaN',
}

/** A conversion whose source is searched again. */
interface Search {
  readonly engine: Engine
  readonly conversion: Conversion
  readonly place: ReadingPlace
}

/**
 * Warns of columns in which a NaN became null, because a GeoPackage cannot hold it. Only columns that lack a number are
 * searched; a second warning names the columns that the engine could not search.
 */
export async function warnOfNaN(search: Search, layers: readonly LayerSchema[], notes: Warnings): Promise<void> {
  const [lost, unknown]: [string[], string[]] = [[], []]
  for (const { name, lacking = [] } of layers) {
    const found = await columnsWithNaN(search, name, lacking)
    if (found === null) unknown.push(...lacking)
    else lost.push(...found)
  }
  const message = 'Numbers that are NaN in the file became null.'
  if (lost.length > 0) notes.add('NUMBERS_NOT_FINITE', message, lost.length, lost)
  const doubt = 'Missing numbers of columns may be NaN in the file: the engine could not search it for them.'
  if (unknown.length > 0) notes.add('NUMBERS_DOUBTFUL', doubt, unknown.length, unknown)
}

/** Columns of a layer that have NaN in some row, found by bisection; null when the engine fails. */
async function columnsWithNaN(search: Search, layer: string, columns: readonly string[]): Promise<string[] | null> {
  const isThere = columns.length > 0 && (await hasNaN(search, layer, columns))
  if (isThere === null) return null
  if (!isThere || columns.length === 1) return isThere ? [...columns] : []
  const middle = columns.length >> 1
  const first = await columnsWithNaN(search, layer, columns.slice(0, middle))
  const second = first && (await columnsWithNaN(search, layer, columns.slice(middle)))
  return second && [...first, ...second]
}

/**
 * Whether a row of a layer has NaN, the only value that does not equal itself, in one of the columns. Null when the
 * engine fails.
 */
async function hasNaN({ engine, conversion, place }: Search, layer: string, columns: readonly string[]) {
  const folder = await mkdtemp(join(place.workdir, 'nan-'))
  const names = columns.map((column) => `"${column.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
  const where = names.map((name) => `${name} <> ${name}`).join(' OR ')
  const options = [...conversion.options, '-skipfailures', '-nlt', 'NONE', '-limit', '1', '-where', where]
  const target = join(folder, 'nan.gpkg')
  try {
    await engine.convert({ ...conversion, layer, options, target }, place.workdir, place.signal)
    await using reading = await openReading({ path: target, format: 'GPKG' }, {}, place)
    return reading.layers.some(({ rows }) => rows > 0)
  } catch (error) {
    // The rows are converted already; only the warning depends on this search.
    if (place.signal.aborted || !(error instanceof TerraneError)) throw error
    return null
  }
}
