import type { Losses } from '../losses.ts'
import type { ExportRow } from '../rows.ts'
import type { ExportColumn, ExportSource } from '../source.ts'

/** GeoJSON (RFC 7946), whole or a feature a line; a key called `id` of whole numbers or text is the id of the feature. */
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
  return `{"type":"Feature","properties":{${members.join(',')}},"geometry":${geometry as string | null}}`
}

function jsonOf({ kind, name }: ExportColumn, value: ExportRow['values'][number], losses: Losses): string {
  if (value === null) return 'null'
  switch (kind) {
    case 'int2':
    case 'int4':
    case 'int8':
    case 'bool':
    case 'json':
      return String(value)
    case 'numeric':
      return /^-?\d/.test(String(value)) ? String(value) : notFinite(name, losses)
    case 'float4':
    case 'float8':
      return Number.isFinite(value) ? JSON.stringify(value) : notFinite(name, losses)
    case 'bytea':
      return JSON.stringify(`\\x${value as string}`)
    default:
      return JSON.stringify(value)
  }
}

function notFinite(name: string, losses: Losses): string {
  losses.count(
    'NUMBERS_NOT_FINITE',
    `JSON has no word for numbers that are not finite: they became null, as in ${name}.`,
  )
  return 'null'
}

/** CSV (RFC 4180) with a column `wkt` where there is a geometry. Nothing stands for null, and `""` for an empty text. */
export async function* csvText(
  { columns, geometry }: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<string> {
  const names = [...columns.map(({ name }) => name), ...(geometry ? ['wkt'] : [])]
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
      return cells.join(',')
    })
    yield `${lines.join('\n')}\n`
  }
}

function cellOf(value: ExportRow['values'][number]): string {
  if (value === null) return ''
  const text = String(value)
  return text === '' || /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
