import { open, type FileHandle } from 'node:fs/promises'
import { zstdDecompressSync } from 'node:zlib'
import {
  CompressionType,
  DataType,
  RecordBatchReader,
  compressionRegistry,
  type RecordBatch,
  type Schema,
} from 'apache-arrow'
import { isoType, wkbHead } from '@terrane/core/wkb'
import { Warnings } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field } from '../feature-stream.ts'
import { Growth } from '../unpack/growth.ts'
import { readAnyDictionaryId } from './arrow-dictionary-ids.ts'
import { arrowColumn, deep, type ArrowColumn } from './arrow-values.ts'
import { UNREADABLE } from './coordinates.ts'
import { dimensionsOf, geometryDecoder, sridOfCrs, type GeometryDecoder } from './geoarrow.ts'
import { unpackLz4Frame } from './lz4-frame.ts'
import type { ReadRequest } from './protocol.ts'
import { SAMPLE, findUntold, saysGeometry, warnOfOthers } from './untold-geometry.ts'

const WGS84 = 4326
/** Most bytes of one buffer. */
const MOST_BYTES = 2 ** 30
/** Bytes that may be read in addition to twice the size of a file. */
const SPARE_BYTES = 65_536

/** Growth of the file that is being read; it is global because the library has one registry of codecs. */
let growth = new Growth(0)
compressionRegistry.set(CompressionType.ZSTD, {
  decode: (bytes) => growth.unpack(MOST_BYTES, (maxOutputLength) => zstdDecompressSync(bytes, { maxOutputLength })),
})
compressionRegistry.set(CompressionType.LZ4_FRAME, {
  decode: (bytes) => growth.unpack(MOST_BYTES, (most) => unpackLz4Frame(bytes, most)),
})

readAnyDictionaryId()

interface GeometryColumn {
  readonly index: number
  readonly srid: number | null
  readonly decode: GeometryDecoder
  /** Its values are bytes or text already. */
  readonly isFlat: boolean
}

/**
 * Opens Arrow IPC, a file (Feather 2) or a stream; with the metadata of GeoArrow or of GeoParquet it has geometries.
 *
 * @throws CONVERSION_FAILED
 */
export async function openArrow({ path, srid: asked }: Pick<ReadRequest, 'path' | 'srid'>): Promise<FeatureReader> {
  const warnings = new Warnings()
  const schema = await schemaOf(path)
  const place = geometryOf(schema, warnings) ?? (await untoldGeometry(path, schema, asked, warnings))
  let rows = 0
  let isLossless = true
  const types = new Set<number>()
  for await (const batch of batchesOf(path)) {
    rows += batch.numRows
    if (place === null) continue
    for (const wkb of geometriesOf(batch, place)) {
      const head = wkb && wkbHead(wkb)
      if (head) types.add(isoType(head))
      if (wkb === undefined) isLossless = false
    }
  }
  // Values that are not geometries stay visible in their column.
  const columns = schema.fields.flatMap(({ name, type }, index) =>
    index === place?.index && isLossless ? [] : [{ name, index, column: arrowColumn(type as DataType) }],
  )
  const fields = columns.map(({ name, column }): Field => ({ name, type: column.type }))
  const about = { hasGeometry: place !== null, geometryTypes: [...types], srid: place ? place.srid : WGS84 }
  return {
    layers: [{ name: 'table', rows, fields, ...about }],
    read: () => readRows(path, columns, place, warnings),
    takeWarnings: () => warnings.take(),
  }
}

async function* readRows(
  path: string,
  columns: readonly { readonly index: number; readonly column: ArrowColumn }[],
  geometry: GeometryColumn | null,
  warnings: Warnings,
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(columns.length)
  let number = 0
  for await (const batch of batchesOf(path)) {
    const geometries = geometry && geometriesOf(batch, geometry)
    const vectors = columns.map(({ index }) => batch.getChildAt(index)!)
    for (let row = 0; row < batch.numRows; row++) {
      const wkb = geometries ? (geometries.next().value as Uint8Array | null | undefined) : null
      number++
      if (wkb === undefined) warnings.count('GEOMETRY_UNREADABLE', UNREADABLE, number)
      builder.add(
        wkb ?? null,
        columns.map(({ column }, i) => column.valueOf(vectors[i]!, row)),
      )
      if (builder.isFull) yield builder.take()
    }
  }
  if (!builder.isEmpty) yield builder.take()
}

/** @throws CONVERSION_FAILED */
async function schemaOf(path: string): Promise<Schema> {
  await using file = await openOnce(path)
  const reader = await (await RecordBatchReader.from(file)).open()
  const schema = reader.schema as Schema | undefined
  if (schema === undefined) throw conversionFailed({ reason: 'it has no schema' })
  return schema
}

/**
 * Opens a file whose bytes are read about once. In a damaged file a message may have a negative length, for which the
 * library would read it again without end. So reading fails with CONVERSION_FAILED after twice the bytes of the file.
 */
async function openOnce(path: string): Promise<FileHandle> {
  const file = await open(path)
  let left = 2 * (await file.stat()).size + SPARE_BYTES
  const read = file.read.bind(file) as (...asked: unknown[]) => ReturnType<FileHandle['read']>
  file.read = async (...asked: unknown[]) => {
    const answer = await read(...asked)
    left -= Math.max(1, answer.bytesRead)
    if (left < 0) throw conversionFailed({ reason: 'its content does not follow its format' })
    return answer
  }
  return file
}

async function* batchesOf(path: string): AsyncGenerator<RecordBatch> {
  await using file = await openOnce(path)
  growth = new Growth((await file.stat()).size)
  const reader = await RecordBatchReader.from(file)
  await reader.open()
  for await (const batch of reader) yield batch
}

/** Geometry by row; null for none, undefined for an unreadable value. */
function* geometriesOf(
  batch: RecordBatch,
  { index, decode, isFlat }: GeometryColumn,
): Generator<Uint8Array | null | undefined> {
  const vector = batch.getChildAt(index)!
  for (let row = 0; row < batch.numRows; row++) {
    const value: unknown = isFlat ? vector.get(row) : deep(vector, row)
    yield decode(value) ?? (saysGeometry(value) ? undefined : null)
  }
}

/** A column of geometries that the schema does not name, by the first values of each, in the first batch that has some. */
async function untoldGeometry(
  path: string,
  { fields }: Schema,
  srid: number | undefined,
  warnings: Warnings,
): Promise<GeometryColumn | null> {
  const likely = fields.flatMap(({ name, type }, index) => {
    const column = arrowColumn(type as DataType)
    return column.type === 'bytea' || column.type === 'text' ? [{ name, index, column, sample: [] as unknown[] }] : []
  })
  for await (const batch of likely.length === 0 ? [] : batchesOf(path)) {
    for (const { column, index, sample } of likely.filter((one) => one.sample.length === 0)) {
      const vector = batch.getChildAt(index)!
      for (let row = 0; row < batch.numRows && sample.length < SAMPLE; row++) {
        const value = column.valueOf(vector, row)
        if (saysGeometry(value)) sample.push(value)
      }
    }
    if (likely.every(({ sample }) => sample.length > 0)) break
  }
  const names = likely.map(({ name }) => name)
  const samples = likely.map(({ sample }) => sample)
  const { index, srid: found, decode } = findUntold(names, samples, srid, warnings)
  return index === null ? null : { index: likely[index]!.index, srid: found, decode, isFlat: true }
}

/** Finds the geometry by GeoParquet's metadata (also in Feather files), else by the first column of a GeoArrow type. */
function geometryOf(schema: Schema, warnings: Warnings): GeometryColumn | null {
  const geo = schema.metadata.get('geo')
  if (geo !== undefined) {
    const { primary_column: name = 'geometry', columns = {} } = JSON.parse(geo) as {
      primary_column?: string
      columns?: Record<string, { encoding?: string; crs?: unknown }>
    }
    const index = schema.fields.findIndex((field) => field.name === name)
    const column = columns[name]
    if (index >= 0 && column) {
      warnOfOthers(
        Object.keys(columns).filter((other) => other !== name),
        warnings,
      )
      return columnAt(schema, index, column.encoding ?? 'WKB', 'crs' in column ? sridOfCrs(column.crs) : WGS84)
    }
  }
  const marked = schema.fields.flatMap(({ metadata, name }, index) => {
    const encoding = metadata.get('ARROW:extension:name') ?? ''
    return /^(geoarrow|ogc)\./.test(encoding) ? [{ index, encoding, metadata, name }] : []
  })
  warnOfOthers(
    marked.slice(1).map(({ name }) => name),
    warnings,
  )
  for (const { index, encoding, metadata } of marked) {
    const { crs } = JSON.parse(metadata.get('ARROW:extension:metadata') || '{}') as { crs?: unknown }
    return columnAt(schema, index, encoding, sridOfCrs(crs ?? null))
  }
  return null
}

/** @throws CONVERSION_FAILED for an encoding that is not known */
function columnAt(schema: Schema, index: number, encoding: string, srid: number | null): GeometryColumn {
  const type = schema.fields[index]!.type as DataType
  const decode = geometryDecoder(encoding, dimensionsOf(namesOf(type)))
  if (decode === null) throw conversionFailed({ reason: `its geometries are encoded as ${encoding}` })
  return { index, srid, decode, isFlat: /wk[bt]$/i.test(encoding) }
}

/** Names of the coordinates: fields of a struct, or one name such as `xyz` of the numbers of a list. */
function namesOf(type: DataType): string[] {
  if (DataType.isStruct(type)) return type.children.map(({ name }) => name)
  if (DataType.isFixedSizeList(type)) {
    const [{ name } = { name: '' }] = type.children
    return /^xyz?m?$/i.test(name) ? [name] : ['x', 'y', 'z', 'm'].slice(0, type.listSize)
  }
  return DataType.isList(type) || DataType.isLargeList(type) ? namesOf(type.children[0]!.type as DataType) : []
}
