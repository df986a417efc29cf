import { zstdCompressSync } from 'node:zlib'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Losses } from '../losses.ts'
import type { ExportRow } from '../rows.ts'
import { ShapeFacts } from '../shape-facts.ts'
import type { ExportColumn, ExportSource, Kind } from '../source.ts'

/** A row group ends with the first of these that it reaches. */
const GROUP_ROWS = 20_000
const GROUP_BYTES = 32 * 2 ** 20
/** Digits that a 64-bit decimal has room for. */
const LONGEST_DECIMAL = 18
const TYPE_NAMES = [
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]
const DAY_MS = 86_400_000

type Leaf = Omit<SchemaElement, 'name' | 'repetition_type'>

const LEAVES: Readonly<Record<Exclude<Kind, 'numeric'>, Leaf>> = {
  int2: { type: 'INT32', converted_type: 'INT_16' },
  int4: { type: 'INT32' },
  int8: { type: 'INT64' },
  float4: { type: 'FLOAT' },
  float8: { type: 'DOUBLE' },
  bool: { type: 'BOOLEAN' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  json: { type: 'BYTE_ARRAY', converted_type: 'JSON' },
  date: { type: 'INT32', converted_type: 'DATE' },
  time: { type: 'INT64', converted_type: 'TIME_MICROS' },
  timestamptz: { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
  bytea: { type: 'BYTE_ARRAY' },
}

/** Writes the bytes of GeoParquet 1.1, or plain Parquet where there is no geometry; geometries are WKB in longitude and latitude. */
export async function* parquetBytes(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<Uint8Array> {
  const { columns, geometry } = source
  const bytes = new FileBytes()
  const facts = new ShapeFacts()
  const names = unusedNames(columns, geometry?.name ?? 'geometry')
  const schema: SchemaElement[] = [
    { name: 'root', num_children: columns.length + (geometry ? 1 : 0) },
    ...columns.map(
      (column) => ({ name: column.name, repetition_type: 'OPTIONAL', ...leafOf(column, losses) }) as const,
    ),
    ...(geometry ? [{ name: names, repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY' } as const] : []),
  ]
  const compressors = { ZSTD: (input: Uint8Array) => zstdCompressSync(input) }
  const parquet = new ParquetWriter({ writer: bytes, schema, codec: 'ZSTD', compressors })
  let group: unknown[][] = schema.slice(1).map(() => [])
  let rows = 0
  let held = 0
  const flush = async () => {
    const columnData = schema.slice(1).map(({ name }, i) => ({ name, data: group[i]! }))
    if (rows > 0) await parquet.write({ columnData, rowGroupSize: rows })
    group = schema.slice(1).map(() => [])
    rows = 0
    held = 0
    return bytes.take()
  }
  for await (const batch of batches) {
    for (const row of batch) {
      for (const [i, column] of columns.entries()) group[i]!.push(valueOf(column, row.values[i]!, losses))
      if (geometry) {
        group[columns.length]!.push(row.geometry)
        facts.add(row.geometry as Uint8Array | null)
      }
      held += bytesOf(row)
      if (++rows >= GROUP_ROWS || held >= GROUP_BYTES) yield await flush()
    }
  }
  yield await flush()
  if (geometry) parquet.kvMetadata = [{ key: 'geo', value: JSON.stringify(metadataOf(facts, names)) }]
  await parquet.finish()
  yield bytes.take()
}

/** About the memory of a row. */
function bytesOf({ values, geometry }: ExportRow): number {
  let bytes = 8 * values.length + (geometry?.length ?? 0)
  for (const value of values) if (typeof value === 'string') bytes += value.length
  return bytes
}

function leafOf(column: ExportColumn, losses: Losses): Leaf {
  if (column.kind !== 'numeric') return LEAVES[column.kind]
  const { precision, scale } = column
  if (precision !== null && scale !== null && precision <= LONGEST_DECIMAL && scale <= precision) {
    return { type: 'INT64', converted_type: 'DECIMAL', precision, scale }
  }
  const message = 'Decimals of more digits than a number of the format holds became texts.'
  losses.count('DECIMALS_AS_TEXT', message, column.name)
  return LEAVES.text
}

function valueOf(column: ExportColumn, value: ExportRow['values'][number], losses: Losses): unknown {
  if (value === null) return null
  const { kind, scale, precision } = column
  switch (kind) {
    case 'int8':
      return BigInt(value)
    case 'numeric':
      return precision !== null && precision <= LONGEST_DECIMAL ? digitsOf(String(value), scale ?? 0) : value
    case 'json':
      return JSON.parse(value as string)
    case 'bytea':
      return new Uint8Array(Buffer.from(value as string, 'hex'))
    case 'date':
      return finite(Date.parse(`${value as string}T00:00:00Z`) / DAY_MS, column, losses)
    case 'timestamptz': {
      const text = value as string
      const seconds = finite(Date.parse(`${text.slice(0, 19)}Z`) / 1000, column, losses)
      return seconds === null ? null : BigInt(seconds) * 1_000_000n + BigInt(text.slice(20, 26))
    }
    case 'time': {
      const [hours = '0', minutes = '0', seconds = '0', fraction = ''] = (value as string).split(/[:.]/)
      const whole = (Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)
      return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(6, '0'))
    }
    default:
      return value
  }
}

/** Infinite times and those before Christ have no place in the format. */
function finite(number: number, { name }: ExportColumn, losses: Losses): number | null {
  if (Number.isFinite(number)) return number
  const message = `Times that are infinite or before Christ became null, as in ${name}.`
  losses.count('TIMES_LEFT_OUT', message)
  return null
}

function digitsOf(text: string, scale: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(scale, '0'))
}

function metadataOf({ types, bounds }: ShapeFacts, name: string): object {
  const shown = types.map(
    (type) => `${TYPE_NAMES[(type % 1000) - 1]}${[1, 3].includes(Math.floor(type / 1000)) ? ' Z' : ''}`,
  )
  const isKnown = types.every((type) => TYPE_NAMES[(type % 1000) - 1] !== undefined)
  const geometry = {
    encoding: 'WKB',
    geometry_types: isKnown ? [...new Set(shown)].toSorted() : [],
    ...(bounds && { bbox: bounds }),
  }
  return { version: '1.1.0', primary_column: name, columns: { [name]: geometry } }
}

function unusedNames(columns: readonly ExportColumn[], name: string): string {
  return columns.some((column) => column.name === name) ? `${name}_1` : name
}

/** Hands out what was written since it was last asked. */
class FileBytes extends ByteWriter {
  constructor() {
    super(1 << 16)
  }

  take(): Uint8Array {
    const bytes = new Uint8Array(this.buffer.slice(0, this.index))
    this.index = 0
    return bytes
  }
}
