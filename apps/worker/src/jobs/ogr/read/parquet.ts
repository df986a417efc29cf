import { open, stat } from 'node:fs/promises'
import { wkbHead } from '@terrane/core'
import {
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
  type SchemaTree,
} from 'hyparquet'
import { compressors } from '../../overture/compressors.ts'
import { Warnings } from '../../warnings.ts'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field, type FieldType } from '../feature-stream.ts'
import { isoType } from './geometry-types.ts'
import { textOf } from './value-types.ts'

const WGS84 = 4326
/** Rows that are decoded at once. */
const ROWS_AT_ONCE = 20_000

/** What GeoParquet (1.0, 1.1) says in the file's metadata under `geo`. */
interface GeoMetadata {
  readonly primary_column?: string
  readonly columns?: Readonly<Record<string, { readonly encoding?: string; readonly crs?: unknown }>>
}

/**
 * Opens a Parquet file; with GeoParquet's metadata, or Parquet's own type of geometries, it has one.
 *
 * @throws CONVERSION_FAILED
 */
export async function openParquet(path: string): Promise<FeatureReader> {
  const file = await bufferOf(path)
  const metadata = await parquetMetadataAsync(file)
  const warnings = new Warnings()
  const children = parquetSchema(metadata).children
  const geometry = geometryOf(metadata, children)
  const fields = children
    .filter(({ element }) => element.name !== geometry?.name)
    .map(({ element, children: parts }): Field => ({
      name: element.name,
      type: parts.length > 0 || element.repetition_type === 'REPEATED' ? 'jsonb' : scalarType(element),
    }))
  const rows = Number(metadata.num_rows)
  const types = new Set<number>()
  if (geometry) {
    for await (const { values, count } of chunksOf(file, metadata, [geometry.name])) {
      for (let i = 0; i < count; i++) {
        const wkb = values[0]![i]
        const head = wkb instanceof Uint8Array ? wkbHead(wkb) : null
        if (head) types.add(isoType(head))
      }
    }
  }
  const srid = geometry ? geometry.srid : WGS84
  return {
    layers: [{ name: 'table', rows, fields, hasGeometry: geometry !== null, geometryTypes: [...types], srid }],
    read: () => readRows(file, metadata, geometry?.name ?? null, fields),
    warnings: () => warnings.list(),
  }
}

async function* readRows(
  file: AsyncBuffer,
  metadata: FileMetaData,
  geometry: string | null,
  fields: readonly Field[],
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  const names = [...fields.map(({ name }) => name), ...(geometry === null ? [] : [geometry])]
  for await (const { values, count } of chunksOf(file, metadata, names)) {
    for (let row = 0; row < count; row++) {
      const wkb = geometry === null ? null : values[fields.length]![row]
      const cells = fields.map(({ type }, i) => cellOf(values[i]![row], type))
      builder.add(wkb instanceof Uint8Array && wkb.length > 0 ? wkb : null, cells)
      if (builder.isFull) yield builder.take()
    }
  }
  if (!builder.isEmpty) yield builder.take()
}

/** Columns of some rows at a time. */
async function* chunksOf(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: readonly string[],
): AsyncGenerator<{ readonly values: unknown[][]; readonly count: number }> {
  const rows = Number(metadata.num_rows)
  for (let start = 0; start < rows; start += ROWS_AT_ONCE) {
    const end = Math.min(rows, start + ROWS_AT_ONCE)
    const values: unknown[][] = columns.map(() => [])
    const found = new Map(columns.map((name, i) => [name, values[i]!]))
    if (columns.length > 0) {
      await parquetRead({
        file,
        metadata,
        columns: [...columns],
        rowStart: start,
        rowEnd: end,
        compressors,
        utf8: false,
        geoparquet: false,
        parsers: { geometryFromBytes: (wkb) => wkb, geographyFromBytes: (wkb) => wkb },
        onChunk: ({ columnName, columnData, rowStart }) => {
          const target = found.get(columnName)
          if (!target) return
          for (let i = 0; i < columnData.length; i++) {
            const at = rowStart + i - start
            if (at >= 0 && at < end - start) target[at] = columnData[i]
          }
        },
      })
    }
    yield { values, count: end - start }
  }
}

/** @throws CONVERSION_FAILED for an encoding that is not WKB */
function geometryOf(
  { key_value_metadata: pairs = [] }: FileMetaData,
  children: readonly SchemaTree[],
): { readonly name: string; readonly srid: number | null } | null {
  const text = pairs.find(({ key }) => key === 'geo')?.value
  if (text !== undefined) {
    const geo = JSON.parse(text) as GeoMetadata
    const name = geo.primary_column ?? 'geometry'
    const column = geo.columns?.[name]
    if (column) {
      if (column.encoding !== undefined && column.encoding !== 'WKB') {
        throw conversionFailed({ reason: `its geometries are encoded as ${column.encoding}, not as WKB` })
      }
      return { name, srid: 'crs' in column ? sridOf(column.crs) : WGS84 }
    }
  }
  const typed = children.find(({ element }) => ['GEOMETRY', 'GEOGRAPHY'].includes(String(element.logical_type?.type)))
  return typed ? { name: typed.element.name, srid: WGS84 } : null
}

/** The code in PROJJSON; CRS84 differs from EPSG:4326 in the order of its axes only. */
function sridOf(crs: unknown): number | null {
  const { authority, code } = (crs as { id?: { authority?: unknown; code?: unknown } } | null)?.id ?? {}
  if (authority === 'OGC' && code === 'CRS84') return WGS84
  return authority === 'EPSG' ? Number(code) : null
}

function scalarType(element: SchemaTree['element']): FieldType {
  const logical = element.logical_type?.type ?? ''
  const converted = element.converted_type ?? ''
  if (logical === 'TIMESTAMP' || converted.startsWith('TIMESTAMP') || element.type === 'INT96') return 'timestamptz'
  if (logical === 'DATE' || converted === 'DATE') return 'date'
  if (logical === 'DECIMAL' || converted === 'DECIMAL') return 'numeric'
  if (logical === 'JSON' || converted === 'JSON') return 'jsonb'
  switch (element.type) {
    case 'BOOLEAN':
      return 'bool'
    case 'INT32':
      return converted === 'UINT_32' || isUnsigned(element, 32) ? 'int8' : 'int4'
    case 'INT64':
      return converted === 'UINT_64' || isUnsigned(element, 64) ? 'numeric' : 'int8'
    case 'FLOAT':
      return 'float4'
    case 'DOUBLE':
      return 'float8'
    default:
      return logical === 'STRING' || logical === 'UUID' || logical === 'ENUM' || ['UTF8', 'ENUM'].includes(converted)
        ? 'text'
        : 'bytea'
  }
}

function isUnsigned({ logical_type }: SchemaTree['element'], width: number): boolean {
  const { isSigned, bitWidth } = (logical_type ?? {}) as { isSigned?: boolean; bitWidth?: number }
  return isSigned === false && bitWidth === width
}

function cellOf(value: unknown, type: FieldType): unknown {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return type === 'date' ? isoOf(value).replace(/T.*/, '') : isoOf(value)
  if (type === 'text' && value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  if (type === 'text') return textOf(value)
  return value
}

/** Years beyond four digits have six and a sign. */
function isoOf(date: Date): string {
  return date.toISOString()
}

async function bufferOf(path: string): Promise<AsyncBuffer> {
  const { size } = await stat(path)
  const file = await open(path)
  return {
    byteLength: size,
    async slice(start, end = size) {
      const bytes = new Uint8Array(end - start)
      const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
      return bytes.buffer.slice(0, bytesRead)
    },
  }
}
