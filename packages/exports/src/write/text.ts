import type { Losses } from '../losses.ts'
import { unusedName } from '../names.ts'
import type { ExportRow } from '../rows.ts'
import type { ExportColumn, ExportSource } from '../source.ts'
import { withoutEmptyPositions } from './empty-positions.ts'

/** Coordinates without a number, as PostGIS writes them. */
const NOT_FINITE = /nan|inf/i
/** Name of the geometry column of a CSV. */
const GEOMETRY_NAME = 'wkt'
const LINE_BREAKS = /[\r\n]+/g
const LONG_WHOLE = /^-?\d{19,}$/

/** GeoJSON (RFC 7946), as one document or with one feature per line. */
export async function* geoJsonText(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  isSequence: boolean,
  losses: Losses,
): AsyncGenerator<string> {
  if (!isSequence) yield `{"type":"FeatureCollection","name":${JSON.stringify(source.name)},"features":[\n`
  let isFirst = true
  for await (const rows of batches) {
    const features = rows.map((row) => featureText(source.columns, row, losses))
    yield isSequence ? `${features.join('\n')}\n` : `${isFirst ? '' : ',\n'}${features.join(',\n')}`
    isFirst = false
  }
  if (!isSequence) yield '\n]}\n'
}

function featureText(columns: readonly ExportColumn[], { values, geometry }: ExportRow, losses: Losses): string {
  const members = columns.map((column, i) => `${JSON.stringify(column.name)}:${jsonOf(column, values[i]!, losses)}`)
  return `{"type":"Feature","properties":{${members.join(',')}},"geometry":${shapeOf(geometry as string | null, losses)}}`
}

function shapeOf(geometry: string | null, losses: Losses): string | null {
  if (geometry === null) return null
  if (NOT_FINITE.test(geometry)) {
    losses.count(
      'GEOMETRY_NOT_FINITE',
      'JSON has no word for coordinates that are not finite: the geometry became null.',
    )
    return null
  }
  return withoutEmptyPositions(geometry, losses)
}

function jsonOf({ kind, name }: ExportColumn, value: ExportRow['values'][number], losses: Losses): string {
  if (value === null) return 'null'
  switch (kind) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'bool':
      return String(value)
    case 'json':
      // Values of type json may have line breaks between tokens, but in a sequence a line break ends a feature.
      return String(value).replaceAll(LINE_BREAKS, ' ')
    case 'numeric':
      return /^-?\d/.test(String(value)) ? decimalText(String(value)) : notFinite(name, losses)
    case 'float4':
    case 'float8':
      return Number.isFinite(value) ? JSON.stringify(value) : notFinite(name, losses)
    case 'bytea':
      return JSON.stringify(`\\x${value as string}`)
    default:
      return JSON.stringify(value)
  }
}

/** Whole numbers beyond 64 bits get a fraction: GDAL reads them as its largest whole number otherwise. */
function decimalText(text: string): string {
  if (!LONG_WHOLE.test(text)) return text
  const number = BigInt(text)
  return number === BigInt.asIntN(64, number) ? text : `${text}.0`
}

function notFinite(name: string, losses: Losses): string {
  losses.count('NUMBERS_NOT_FINITE', 'JSON has no word for numbers that are not finite: they became null.', name)
  return 'null'
}

/** CSV (RFC 4180), with a column `wkt` if there is a geometry. An empty cell is null, and `""` is an empty text. */
export async function* csvText(
  { columns, geometry }: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<string> {
  const names = csvNames(columns, geometry !== null, losses)
  yield `${names.map(cellOf).join(',')}\n`
  for await (const rows of batches) {
    const lines = rows.map((row) => {
      const cells = columns.map(({ kind }, i) => {
        const value = row.values[i]!
        if (value === null && kind === 'text') {
          losses.count(
            'NULL_TEXTS_EMPTY',
            'Most readers of CSV take texts that are null for empty ones.',
            columns[i]!.name,
          )
        }
        return cellOf(kind === 'bytea' && value !== null ? `\\x${value as string}` : value)
      })
      if (geometry) cells.push(cellOf(row.geometry as string | null))
      if (row.geometry !== null && NOT_FINITE.test(row.geometry as string))
        losses.count('GEOMETRY_NOT_FINITE', 'Few readers of WKT take coordinates that are not finite.')
      return cells.join(',')
    })
    yield `${lines.join('\n')}\n`
  }
}

/** Readers use a column named `wkt` as the geometry, so another column of this name is renamed. */
function csvNames(columns: readonly ExportColumn[], hasGeometry: boolean, losses: Losses): string[] {
  const own = columns.map(({ name }) => name)
  if (!hasGeometry) return own
  const names = own.map((name) => {
    if (name.toLowerCase() !== GEOMETRY_NAME) return name
    losses.count('NAMES_CHANGED', 'The column wkt of a CSV is its geometry: columns of that name have others.', name)
    return unusedName(name, own)
  })
  return [...names, GEOMETRY_NAME]
}

function cellOf(value: ExportRow['values'][number]): string {
  if (value === null) return ''
  const text = String(value)
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
