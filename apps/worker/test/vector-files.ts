import { WkbWriter } from '@terrane/core'
import type { SchemaElement } from 'hyparquet'
import { ByteWriter, parquetWrite, type ColumnSource } from 'hyparquet-writer'

const writer = new WkbWriter('xy')

export function wkbPoint([lng, lat]: readonly [number, number]): Uint8Array {
  writer.head(1)
  writer.xy(lng, lat)
  return writer.take()
}

/** A square of a tenth of a degree whose lower left corner is given, counter-clockwise. */
export function wkbSquare([lng, lat]: readonly [number, number], hasHole = false): Uint8Array {
  const ring = (from: number, size: number) => {
    writer.count(5)
    for (const [x, y] of [[0, 0], [size, 0], [size, size], [0, size], [0, 0]] as const) writer.xy(lng + from + x, lat + from + y) // prettier-ignore
  }
  writer.head(3)
  writer.count(hasHole ? 2 : 1)
  ring(0, 0.1)
  if (hasHole) ring(0.02, 0.03)
  return writer.take()
}

type Leaf = Partial<SchemaElement>
const LEAVES: Readonly<Record<string, Leaf>> = {
  bytes: { type: 'BYTE_ARRAY' },
  text: { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
  double: { type: 'DOUBLE' },
  int64: { type: 'INT64' },
  timestamp: { type: 'INT64', converted_type: 'TIMESTAMP_MICROS' },
  float: { type: 'FLOAT' },
  float16: { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } },
  int8: { type: 'INT32', converted_type: 'INT_8' },
  int64s: { type: 'INT64' },
}

/** A column of a file: `list:float` and such are lists. */
export interface FileColumn {
  readonly name: string
  readonly type: string
  readonly data: readonly unknown[]
}

/** A Parquet file of columns; with the name of a column of WKB, GeoParquet. */
export function vectorFile(columns: readonly FileColumn[], geometry: string | null = null, crs?: unknown): Uint8Array {
  const schema: SchemaElement[] = [{ name: 'schema', num_children: columns.length }]
  for (const { name, type } of columns) {
    if (!type.startsWith('list:')) schema.push({ name, repetition_type: 'OPTIONAL', ...LEAVES[type] })
    else {
      schema.push(
        { name, num_children: 1, converted_type: 'LIST', repetition_type: 'OPTIONAL' },
        { name: 'list', num_children: 1, repetition_type: 'REPEATED' },
        { name: 'element', repetition_type: 'OPTIONAL', ...LEAVES[type.slice(5)] },
      )
    }
  }
  const out = new ByteWriter()
  const about = {
    version: '1.1.0',
    primary_column: geometry,
    columns: { [geometry ?? '']: { encoding: 'WKB', geometry_types: [], ...(crs !== undefined && { crs }) } },
  }
  void parquetWrite({
    writer: out,
    schema,
    columnData: columns.map(({ name, data }): ColumnSource => ({ name, data: [...data] })),
    rowGroupSize: 7,
    codec: 'UNCOMPRESSED',
    ...(geometry !== null && { kvMetadata: [{ key: 'geo', value: JSON.stringify(about) }] }),
  })
  return new Uint8Array(out.getBuffer())
}
