import { mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { WkbCursor } from '@terrane/core'
import { EMPTY_PARTS, writeGpkg, type ExportRow, type ExportSource } from '@terrane/exports'
import type { Warnings } from '@terrane/core/errors'
import { oneKindOnly } from './errors.ts'
import type { ExportWork } from './export-work.ts'

/** Kind of a Shapefile for each ISO WKB type, from 1 on. A point and a multipoint are different kinds. */
const KINDS = ['points', 'lines', 'polygons', 'multi points', 'lines', 'polygons', 'collections']
const LONGEST_NAME = 10
const LONGEST_TEXT = 254
/** Types that dBASE does not have; their values become texts or numbers, or are left out. */
const NOT_IN_DBASE: ReadonlySet<string> = new Set(['json', 'time', 'timestamp', 'timestamptz', 'bytea', 'bool'])
const STAMPS: ReadonlySet<string> = new Set(['timestamp', 'timestamptz'])
/** Decimals with more digits become texts. */
const EXACT_DIGITS = 15
/** Characters of a number, and digits after its decimal point, as the engine writes them. */
const WIDTH = 24
const DIGITS = 15
/** Relative loss of a number by rounding from which on there is a warning. */
const NOTABLE = 1e-12
/** Magnitude from which on a number has more digits than the file can hold. */
const TOO_LARGE = 1e23

/** Writes a zipped Shapefile from a GeoPackage; returns its path. @throws FORMAT_TAKES_ONE_KIND, CONVERSION_FAILED */
export async function writeShapefile(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  work: ExportWork,
): Promise<string> {
  const { workdir, warnings } = work
  check(source, warnings)
  const folder = join(workdir, 'package')
  const results = join(workdir, 'result')
  for (const path of [folder, results]) await mkdir(path)
  const file = 'export.gpkg'
  // The engine reduces timestamps to days, so they are written as text.
  const columns = source.columns.map((one) => (STAMPS.has(one.kind) ? { ...one, kind: 'text' as const } : one))
  const rows = limited(source, batches, warnings)
  const facts = await writeGpkg(work.systems, { ...source, columns }, rows, join(folder, file), warnings)
  if (facts.withEmptyParts > 0) warnings.add('EMPTY_PARTS_LEFT_OUT', EMPTY_PARTS, facts.withEmptyParts)
  const target = join(results, 'export.shz')
  const options = ['-f', 'ESRI Shapefile', '-lco', 'ENCODING=UTF-8', ...shapeOptions(source)]
  const conversion = { folder, file, driver: 'GPKG' as const, openOptions: [], layer: null, options, target }
  await work.engine.convert(conversion, workdir, work.signal)
  await stat(target)
  return target
}

/** All rows of the file have the same type and dimensions; the engine does not derive them from the rows. */
function shapeOptions({ geometry }: ExportSource): string[] {
  const shapes = geometry?.shapes ?? []
  const { hasZ, hasM, isMixed } = dimensionsOf(shapes)
  const options = new Set(shapes.map((shape) => shape % 1000)).size > 1 ? ['-nlt', 'PROMOTE_TO_MULTI'] : []
  return isMixed ? [...options, '-dim', `XY${hasZ ? 'Z' : ''}${hasM ? 'M' : ''}`] : options
}

function dimensionsOf(shapes: readonly number[]) {
  const thousands = [...new Set(shapes.map((shape) => Math.floor(shape / 1000)))]
  return {
    hasZ: thousands.some((one) => one % 2 === 1),
    hasM: thousands.some((one) => one >= 2),
    isMixed: thousands.length > 1,
  }
}

/** @throws FORMAT_TAKES_ONE_KIND */
function check({ geometry, columns }: ExportSource, warnings: Warnings): void {
  const kinds = new Set((geometry?.shapes ?? []).map((shape) => KINDS[(shape % 1000) - 1] ?? 'others'))
  if (kinds.size > 1 || kinds.has('collections') || kinds.has('others'))
    throw oneKindOnly({ format: 'Shapefile', kinds: [...kinds].toSorted() })
  const long = columns.filter(({ name }) => Buffer.byteLength(name) > LONGEST_NAME).map(({ name }) => name)
  if (long.length > 0) warnings.add('NAMES_SHORTENED', 'Names of columns have ten bytes at most.', long.length, long)
  const changed = columns.filter(({ kind }) => NOT_IN_DBASE.has(kind)).map(({ name }) => name)
  const message = 'Columns of types that a Shapefile lacks became texts or numbers, or were left out.'
  if (changed.length > 0) warnings.add('TYPES_CHANGED', message, changed.length, changed)
}

/** Rows within the limits of a Shapefile; values that are cut, rounded or filled are counted. */
async function* limited(
  { columns, geometry }: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  warnings: Warnings,
) {
  const { hasZ, hasM, isMixed } = dimensionsOf(geometry?.shapes ?? [])
  let row = 0
  for await (const rows of batches) {
    yield rows.map(({ values, geometry: wkb }) => {
      row++
      if (isMixed && wkb !== null) countFilled(wkb as Uint8Array, hasZ, hasM, warnings)
      const held = values.map((value, i) => {
        const { name } = columns[i]!
        if (isReal(columns[i]!) && value !== null) return numberOf(value, name, warnings)
        if (typeof value === 'string') countText(value, name, row, warnings)
        return value
      })
      return { values: held, geometry: wkb }
    })
  }
}

function isReal({ kind, precision }: ExportSource['columns'][number]): boolean {
  return kind.startsWith('float') || (kind === 'numeric' && precision !== null && precision <= EXACT_DIGITS)
}

function countFilled(wkb: Uint8Array, hasZ: boolean, hasM: boolean, warnings: Warnings): void {
  const cursor = new WkbCursor(wkb)
  cursor.head()
  if (cursor.hasZ === hasZ && cursor.hasM === hasM) return
  const message = 'Heights and measures became 0 in rows that have none where others have.'
  warnings.count('DIMENSIONS_FILLED', message)
}

function countText(text: string, name: string, row: number, warnings: Warnings): void {
  if (Buffer.byteLength(text) > LONGEST_TEXT)
    warnings.count('TEXT_CUT', `Texts of more than ${LONGEST_TEXT} bytes were cut.`, row)
  if (text === '' || text.trim() !== text)
    warnings.count('BLANKS_LEFT_OUT', 'Texts lost the blanks around them; empty ones became null.', name)
}

/** A number as dBASE can hold it; null if that would change it. */
function numberOf(value: NonNullable<ExportRow['values'][number]>, name: string, warnings: Warnings) {
  const number = Number(value)
  // NaN is counted when the GeoPackage is written.
  if (Number.isNaN(number)) return value
  if (Math.abs(number) >= TOO_LARGE) {
    warnings.count('NUMBERS_LEFT_OUT', `Infinite numbers and those from ${TOO_LARGE} on became null.`, name)
    return null
  }
  const written = Number(number.toFixed(DIGITS).slice(0, WIDTH))
  if (Math.abs(written - number) > NOTABLE * Math.abs(number))
    warnings.count('NUMBERS_ROUNDED', `Numbers have ${DIGITS} digits behind the point.`, name)
  return value
}
