import { open, stat } from 'node:fs/promises'
import { isoType, wkbHead } from '@terrane/core/wkb'
import {
  parquetMetadataAsync,
  parquetRead,
  parquetSchema,
  type AsyncBuffer,
  type FileMetaData,
  type SchemaTree,
} from 'hyparquet'
import { compressors } from '../parquet-codecs.ts'
import { countedCompressors } from '../unpack/growth.ts'
import { Warnings } from '@terrane/core/errors'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field, type FieldType } from '../feature-stream.ts'
import { UNREADABLE } from './coordinates.ts'
import { dimensionsOf, geometryDecoder, sridOfCrs, type GeometryDecoder } from './geoarrow.ts'
import { decimalText, isoOfCount, isoOfDays, isoOfInterval, isoTimeOfCount } from './instants.ts'
import type { ReadRequest } from './protocol.ts'
import { digitsOf, leafNames, scalarType, takeDecimals, takeIntervals, times } from './parquet-schema.ts'
import { SAMPLE, findUntold, saysGeometry, warnOfOthers } from './untold-geometry.ts'
import { textOf } from './value-types.ts'

const WGS84 = 4326
/** Rows that are decoded at once. */
const ROWS_AT_ONCE = 20_000

/** Keeps times in the precision of the file. */
const PARSERS = {
  geometryFromBytes: (wkb: Uint8Array) => wkb,
  geographyFromBytes: (wkb: Uint8Array) => wkb,
  timestampFromMilliseconds: (count: bigint) => isoOfCount(count, 1000n),
  timestampFromMicroseconds: (count: bigint) => isoOfCount(count, 1_000_000n),
  timestampFromNanoseconds: (count: bigint) => isoOfCount(count, 1_000_000_000n),
  dateFromDays: (days: number) => isoOfDays(days),
}

export interface GeometryColumn {
  readonly name: string
  /** EPSG code; null for a reference system that is unknown or has none. */
  readonly srid: number | null
  /** The file states that its reference system is unknown (`crs` is null in GeoParquet). */
  readonly isUndefined: boolean
  readonly decode: GeometryDecoder
}

/** GeoParquet metadata (1.0, 1.1) under `geo`. */
interface GeoMetadata {
  readonly primary_column?: string
  readonly columns?: Readonly<Record<string, { readonly encoding?: string; readonly crs?: unknown }>>
}

/**
 * Opens a Parquet file; geometries are found by GeoParquet's metadata, or by Parquet's own geometry types.
 *
 * @throws CONVERSION_FAILED
 */
export async function openParquet({ path, srid: asked }: Pick<ReadRequest, 'path' | 'srid'>): Promise<FeatureReader> {
  const file = await bufferOf(path)
  const metadata = await parquetMetadataAsync(file)
  const scales = takeDecimals(metadata)
  const intervals = takeIntervals(metadata)
  const warnings = new Warnings()
  const children = parquetSchema(metadata).children
  const told = geometryOf(metadata, children, warnings)
  const columns = children.map(({ element, children: parts }): Field => ({
    name: element.name,
    type: intervals.has(element.name)
      ? 'text'
      : scales.has(element.name)
        ? 'numeric'
        : parts.length > 0 || element.repetition_type === 'REPEATED'
          ? 'jsonb'
          : scalarType(element),
  }))
  const geometry = told ?? (await untoldGeometry({ file, metadata }, columns, asked, warnings))
  let isLossless = true
  const rows = Number(metadata.num_rows)
  const types = new Set<number>()
  if (geometry) {
    for await (const { values, count } of chunksOf(file, metadata, [geometry.name])) {
      for (let i = 0; i < count; i++) {
        const wkb = geometry.decode(values[0]![i])
        const head = wkb && wkbHead(wkb)
        if (head) types.add(isoType(head))
        if (wkb === null && saysGeometry(values[0]![i])) isLossless = false
      }
    }
  }
  // Values that are not geometries stay visible in their column.
  const fields = columns.filter(({ name }) => name !== geometry?.name || !isLossless)
  const srid = geometry ? geometry.srid : WGS84
  return {
    layers: [{ name: 'table', rows, fields, hasGeometry: geometry !== null, geometryTypes: [...types], srid }],
    read: () => readRows(file, metadata, { geometry, fields, scales, perSecond: times(children), intervals }, warnings),
    takeWarnings: () => warnings.take(),
  }
}

/**
 * Columns to read, and columns whose values need a conversion of their own: decimals, fractions of a second, intervals.
 */
interface Plan {
  readonly geometry: GeometryColumn | null
  readonly fields: readonly Field[]
  readonly scales: ReadonlyMap<string, number>
  readonly perSecond: ReadonlyMap<string, bigint>
  readonly intervals: ReadonlySet<string>
}

/** A column of geometries that the metadata do not name, by its first values. */
export async function untoldGeometry(
  { file, metadata }: { readonly file: AsyncBuffer; readonly metadata: FileMetaData },
  columns: readonly Field[],
  srid: number | undefined,
  warnings: Warnings,
): Promise<GeometryColumn | null> {
  const likely = columns.filter(({ type }) => type === 'bytea' || type === 'text')
  const names = likely.map(({ name }) => name)
  const samples = await samplesOf(file, metadata, likely)
  const { index, srid: found, decode } = findUntold(names, samples, srid, warnings)
  if (index === null) return null
  return {
    name: names[index]!,
    srid: found,
    isUndefined: false,
    decode: (value) => decode(cellOf(value, likely[index]!.type)),
  }
}

/** First non-empty values by column: of the first rows, or of later ones if these have none. */
async function samplesOf(file: AsyncBuffer, metadata: FileMetaData, columns: readonly Field[]): Promise<unknown[][]> {
  const rows = Number(metadata.num_rows)
  const samples = columns.map((): unknown[] => [])
  let unseen = [...columns.keys()]
  for (let start = 0, end = SAMPLE; unseen.length > 0 && start < rows; start = end, end += ROWS_AT_ONCE) {
    const asked = unseen.map((i) => columns[i]!.name)
    const values = await valuesOf(file, metadata, asked, { start, end: Math.min(rows, end) })
    for (const [at, i] of unseen.entries()) {
      const cells = values[at]!.map((value) => cellOf(value, columns[i]!.type))
      samples[i] = cells.filter(saysGeometry).slice(0, SAMPLE)
    }
    unseen = unseen.filter((i) => samples[i]!.length === 0)
  }
  return samples
}

async function* readRows(
  file: AsyncBuffer,
  metadata: FileMetaData,
  { geometry, fields, scales, perSecond, intervals }: Plan,
  warnings: Warnings,
): AsyncGenerator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  const names = [...new Set([...fields.map(({ name }) => name), ...(geometry === null ? [] : [geometry.name])])]
  const place = names.indexOf(geometry?.name ?? '')
  let number = 0
  for await (const { values, count } of chunksOf(file, metadata, names)) {
    for (let row = 0; row < count; row++) {
      number++
      const wkb = geometry === null ? null : geometry.decode(values[place]![row])
      if (geometry !== null && wkb === null && saysGeometry(values[place]![row])) {
        warnings.count('GEOMETRY_UNREADABLE', UNREADABLE, number)
      }
      const cells = fields.map(({ name, type }, i) => {
        const value = values[i]![row]
        const scale = scales.get(name)
        if (value === null || value === undefined) return null
        if (scale !== undefined) return decimalText(digitsOf(value), scale)
        if (intervals.has(name)) return isoOfInterval(value as Uint8Array)
        return type === 'time' ? isoTimeOfCount(BigInt(value as number), perSecond.get(name)!) : cellOf(value, type)
      })
      builder.add(wkb, cells)
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
    yield { values: await valuesOf(file, metadata, columns, { start, end }), count: end - start }
  }
}

/**
 * Columns of the rows from one number to another.
 *
 * @throws CONVERSION_FAILED for a column with fewer values
 */
export async function valuesOf(
  file: AsyncBuffer,
  metadata: FileMetaData,
  columns: readonly string[],
  { start, end }: { readonly start: number; readonly end: number },
): Promise<unknown[][]> {
  const values: unknown[][] = []
  const counted = countedCompressors(compressors, file.byteLength)
  // One after the other, because the library decodes all rows of a group at once.
  for (const name of columns) {
    const target: unknown[] = []
    let count = 0
    await parquetRead({
      file,
      metadata,
      columns: [name],
      rowStart: start,
      rowEnd: end,
      compressors: counted,
      utf8: false,
      geoparquet: false,
      parsers: PARSERS,
      onChunk: ({ columnData, rowStart }) => {
        const last = Math.min(columnData.length, end - rowStart)
        for (let i = Math.max(0, start - rowStart); i < last; i++, count++) target[rowStart + i - start] = columnData[i]
      },
    })
    if (count < end - start) throw conversionFailed({ reason: `its column ${name} has fewer values than it has rows` })
    values.push(target)
  }
  return values
}

/** @throws CONVERSION_FAILED for an encoding that is not known */
export function geometryOf(
  { key_value_metadata: pairs = [] }: FileMetaData,
  children: readonly SchemaTree[],
  warnings: Warnings,
): GeometryColumn | null {
  const text = pairs.find(({ key }) => key === 'geo')?.value
  if (text !== undefined) {
    const geo = JSON.parse(text) as GeoMetadata
    const name = geo.primary_column ?? 'geometry'
    const column = geo.columns?.[name]
    const node = children.find(({ element }) => element.name === name)
    if (column && node) {
      const { encoding = 'WKB' } = column
      const decode = geometryDecoder(encoding, dimensionsOf(leafNames(node)))
      if (decode === null) throw conversionFailed({ reason: `its geometries are encoded as ${encoding}` })
      warnOfOthers(
        Object.keys(geo.columns ?? {}).filter((other) => other !== name),
        warnings,
      )
      return { name, srid: 'crs' in column ? sridOfCrs(column.crs) : WGS84, isUndefined: column.crs === null, decode }
    }
  }
  const [typed, ...others] = children.filter(({ element }) =>
    ['GEOMETRY', 'GEOGRAPHY'].includes(String(element.logical_type?.type)),
  )
  if (!typed) return null
  warnOfOthers(
    others.map(({ element }) => element.name),
    warnings,
  )
  const { crs } = (typed.element.logical_type ?? {}) as { crs?: string }
  const srid = crs === undefined || crs === '' ? WGS84 : sridOfCrs(crs.replace(/^srid:/i, 'EPSG:'))
  return { name: typed.element.name, srid, isUndefined: false, decode: geometryDecoder('WKB', 'xy')! }
}

function cellOf(value: unknown, type: FieldType): unknown {
  if (value === null || value === undefined) return null
  if (type === 'text' && value instanceof Uint8Array) return Buffer.from(value).toString('utf8')
  return type === 'text' ? textOf(value) : value
}

/**
 * The bytes of a file for the library. Reading a range rejects with CONVERSION_FAILED when the file does not have all of it:
 * the library would take missing bytes for nulls.
 */
export async function bufferOf(path: string): Promise<AsyncBuffer> {
  const { size } = await stat(path)
  return {
    byteLength: size,
    slice(start, end = size) {
      const bytes = readRange(path, start, end, size)
      // The library asks for several ranges at once and awaits one after the other. A rejection that it has not reached when
      // decoding another fails would end the process.
      bytes.catch(() => {})
      return bytes
    },
  }
}

async function readRange(path: string, start: number, end: number, size: number): Promise<ArrayBuffer> {
  if (!(start >= 0 && start <= end && end <= size))
    throw conversionFailed({ reason: 'it names bytes that it does not have' })
  await using file = await open(path)
  const bytes = new Uint8Array(end - start)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
  return bytes.buffer.slice(0, bytesRead)
}
