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

/** What the engine converted, and where. */
interface Search {
  readonly engine: Engine
  readonly conversion: Conversion
  readonly place: ReadingPlace
}

/** Names columns in which a NaN became null, because a GeoPackage cannot hold it. Only columns that lack a number are searched. */
export async function warnOfNaN(search: Search, layers: readonly LayerSchema[], notes: Warnings): Promise<void> {
  const lost: string[] = []
  for (const { name, lacking = [] } of layers) {
    if (lacking.length === 0 || !(await hasNaN(search, name, lacking))) continue
    for (const column of lacking) if (lacking.length === 1 || (await hasNaN(search, name, [column]))) lost.push(column)
  }
  const message = 'Numbers that are NaN in the file became null.'
  if (lost.length > 0) notes.add('NUMBERS_NOT_FINITE', message, lost.length, lost)
}

/** Whether some row of a layer has NaN in one of some columns: it is the only value that does not equal itself. */
async function hasNaN({ engine, conversion, place }: Search, layer: string, columns: readonly string[]) {
  const folder = await mkdtemp(join(place.workdir, 'nan-'))
  const names = columns.map((column) => `"${column.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`)
  const where = names.map((name) => `${name} <> ${name}`).join(' OR ')
  const options = [...conversion.options, '-nlt', 'NONE', '-limit', '1', '-where', where]
  const target = join(folder, 'nan.gpkg')
  try {
    await engine.convert({ ...conversion, layer, options, target }, place.workdir, place.signal)
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'CONVERSION_FAILED') return false
    throw error
  }
  await using reading = await openReading({ path: target, format: 'GPKG' }, {}, place)
  return reading.layers.some(({ rows }) => rows > 0)
}
