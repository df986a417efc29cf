import { zstdCompressSync } from 'node:zlib'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, ParquetWriter } from 'hyparquet-writer'
import type { Losses } from '../../losses.ts'
import { unusedName } from '../../names.ts'
import type { ExportRow } from '../../rows.ts'
import { ShapeFacts } from '../../shape-facts.ts'
import type { ExportSource } from '../../source.ts'
import { columnElement, declaredElement, valueOf } from './columns.ts'
import { coveringElements, coveringMetadata, coveringOf } from './covering.ts'

/** A row group ends at the first of these limits. */
const GROUP_ROWS = 20_000
const GROUP_BYTES = 32 * 2 ** 20
/**
 * How the library writes no rows and an empty list of groups (Thrift's compact protocol). The list lacks the type of its
 * elements, and readers in Rust refuse it.
 */
const NO_GROUPS = Buffer.from([0x16, 0, 0x19, 0])
const LIST_OF_STRUCTS = 12
const TYPE_NAMES = [
  'Point',
  'LineString',
  'Polygon',
  'MultiPoint',
  'MultiLineString',
  'MultiPolygon',
  'GeometryCollection',
]

/** Writes GeoParquet 1.1 of WKB in longitude and latitude with a column of boxes, or plain Parquet. */
export async function* parquetBytes(
  source: ExportSource,
  batches: AsyncIterable<readonly ExportRow[]>,
  losses: Losses,
): AsyncGenerator<Uint8Array> {
  const { columns, geometry } = source
  const bytes = new FileBytes()
  const facts = new ShapeFacts()
  const own = columns.map(({ name }) => name)
  const place = unusedName(geometry?.name ?? 'geometry', own)
  const covering = unusedName('bbox', [...own, place])
  const leaves = columns.map((column) => columnElement(column, losses))
  const shape: SchemaElement = { name: place, repetition_type: 'OPTIONAL', type: 'BYTE_ARRAY' }
  const root = { name: 'root', num_children: columns.length + (geometry ? 2 : 0) }
  const schema = [root, ...leaves, ...(geometry ? [shape, ...coveringElements(covering)] : [])]
  const compressors = { ZSTD: (input: Uint8Array) => zstdCompressSync(input) }
  const parquet = new ParquetWriter({ writer: bytes, schema, codec: 'ZSTD', compressors })
  const group = new RowGroup(geometry ? [...own, place, covering] : own)
  const flush = async () => {
    if (group.rows > 0) await parquet.write({ columnData: group.take(columns), rowGroupSize: GROUP_ROWS })
    return bytes.take()
  }
  for await (const batch of batches) {
    for (const row of batch) {
      const values = columns.map((column, i) => valueOf(column, row.values[i]!, losses))
      if (geometry) values.push(row.geometry, coveringOf(facts.add(row.geometry as Uint8Array | null)))
      group.add(values, bytesOf(row))
      if (group.isFull) yield await flush()
    }
  }
  yield await flush()
  parquet.schema = schema.map((element, i) => declaredElement(element, columns[i - 1]))
  const about = { ...source.metadata, ...(geometry && { geo: JSON.stringify(metadataOf(facts, place, covering)) }) }
  const pairs = Object.entries(about).map(([key, value]) => ({ key, value }))
  // Readers in Rust refuse the library's empty list here, too.
  if (pairs.length > 0) parquet.kvMetadata = pairs
  await parquet.finish()
  const end = bytes.take()
  const empty = Buffer.from(end.buffer).indexOf(NO_GROUPS)
  if (parquet.row_groups.length === 0 && empty >= 0) end[empty + NO_GROUPS.length - 1] = LIST_OF_STRUCTS
  yield end
}

/** Rows of a group, by columns. */
class RowGroup {
  rows = 0
  readonly #names: readonly string[]
  #values: unknown[][] = []
  #bytes = 0

  constructor(names: readonly string[]) {
    this.#names = names
    this.#clear()
  }

  get isFull(): boolean {
    return this.rows >= GROUP_ROWS || this.#bytes >= GROUP_BYTES
  }

  add(values: readonly unknown[], bytes: number): void {
    for (const [i, value] of values.entries()) this.#values[i]!.push(value)
    this.#bytes += bytes
    this.rows++
  }

  /** Returns and empties the collected values. Bounds of JSON are left out, because they would be those of texts. */
  take(columns: ExportSource['columns']) {
    const data = this.#values
    this.#clear()
    return this.#names.map((name, i) => ({ name, data: data[i]!, statistics: columns[i]?.kind !== 'json' }))
  }

  #clear(): void {
    this.#values = this.#names.map(() => [])
    this.rows = 0
    this.#bytes = 0
  }
}

/** Approximate bytes of a row in memory. */
function bytesOf({ values, geometry }: ExportRow): number {
  let bytes = 8 * values.length + (geometry?.length ?? 0)
  for (const value of values) if (typeof value === 'string') bytes += value.length
  return bytes
}

function metadataOf({ types, bounds }: ShapeFacts, name: string, covering: string): object {
  const shown = types.map(
    (type) => `${TYPE_NAMES[(type % 1000) - 1]}${[1, 3].includes(Math.floor(type / 1000)) ? ' Z' : ''}`,
  )
  const isKnown = types.every((type) => TYPE_NAMES[(type % 1000) - 1] !== undefined)
  const geometry = {
    encoding: 'WKB',
    geometry_types: isKnown ? [...new Set(shown)].toSorted() : [],
    ...(bounds && { bbox: bounds }),
    covering: coveringMetadata(covering),
  }
  return { version: '1.1.0', primary_column: name, columns: { [name]: geometry } }
}

/** Hands out the bytes written since the last call. */
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
