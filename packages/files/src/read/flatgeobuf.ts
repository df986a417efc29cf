import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { Dimensions } from '@terrane/core/wkb'
import { conversionFailed } from '../errors.ts'
import { BatchBuilder, type FeatureBatch, type FeatureReader, type Field } from '../feature-stream.ts'
import { GeometryWriter } from './flatgeobuf/geometry.ts'
import { cellsOf, FIELD_TYPES, type FlatColumn } from './flatgeobuf/properties.ts'
import { Table } from './flatgeobuf/table.ts'
import { sridOfCrs } from './geoarrow.ts'
import { TypeGuess } from './value-types.ts'

const MAGIC_BYTES = 8
const SIZE_BYTES = 4
/** Bytes of a node of the index: a box, and an offset. */
const NODE_BYTES = 40
const CHUNK_BYTES = 1 << 20

// Slots of the header, of a column, of a reference system and of a feature.
const HEADER = { name: 0, type: 2, hasZ: 3, hasM: 4, columns: 7, features: 8, nodeSize: 9, crs: 10 } as const
const COLUMN = { name: 0, type: 1 } as const
const CRS = { org: 0, code: 1, wkt: 4, codeText: 5 } as const
const FEATURE = { geometry: 0, properties: 1, columns: 2 } as const

interface Header {
  readonly name: string
  /** Type of all geometries; 0 when each has its own. */
  readonly type: number
  readonly dimensions: Dimensions
  readonly columns: readonly FlatColumn[]
  readonly srid: number | null
  /** Number of features; 0 when unknown. */
  readonly features: number
  /** Offset of the first feature. */
  readonly start: number
}

/**
 * Opens a FlatGeobuf (https://flatgeobuf.org, version 3), feature by feature in the order of the file: once for the
 * types of geometries, once for the rows. The index is skipped.
 *
 * @throws CONVERSION_FAILED for a file that is damaged
 */
export function openFlatGeobuf(path: string): FeatureReader {
  const header = readHeader(path)
  const writer = new GeometryWriter(header.dimensions)
  const types = new Set<number>()
  const fields = new Map<string, Field>()
  const addFields = (columns: readonly FlatColumn[]) => {
    for (const { name, type } of columns) if (!fields.has(name)) fields.set(name, { name, type: FIELD_TYPES[type]! })
  }
  addFields(header.columns)
  const times = new Map<string, TypeGuess>()
  let rows = 0
  const look = (feature: Table) => {
    const geometry = feature.table(FEATURE.geometry)
    if (geometry) types.add(writer.codeOf(geometry, header.type))
    const own = feature.vector(FEATURE.columns, 4).length > 0 ? columnsOf(feature, FEATURE.columns) : header.columns
    if (own !== header.columns) addFields(own)
    addTimes(feature, own, times)
    return 1
  }
  for (const one of eachFeature(path, header, look)) rows += one
  const { name, srid } = header
  const list = [...fields.values()].map((field) => {
    const guess = times.get(field.name)?.type ?? 'text'
    return field.type === 'timestamptz' && guess !== 'text' ? { ...field, type: guess } : field
  })
  return {
    layers: [{ name, rows, fields: list, hasGeometry: true, geometryTypes: [...types], srid }],
    read: () => readRows(path, header, list),
    takeWarnings: () => [],
  }
}

/**
 * Adds the times of a feature to the guesses of their columns, because the format has one type for dates and times,
 * with or without a zone.
 */
function addTimes(feature: Table, columns: readonly FlatColumn[], times: Map<string, TypeGuess>): void {
  if (!columns.some(({ type }) => FIELD_TYPES[type] === 'timestamptz')) return
  const { at, length } = feature.vector(FEATURE.properties, 1)
  const cells = cellsOf(feature.view, at, length, columns)
  for (const [i, { name, type }] of columns.entries()) {
    if (FIELD_TYPES[type] !== 'timestamptz') continue
    const guess = times.get(name) ?? new TypeGuess()
    times.set(name, guess)
    guess.add(cells[i])
  }
}

function* readRows(path: string, header: Header, fields: readonly Field[]): Generator<FeatureBatch> {
  const builder = new BatchBuilder(fields.length)
  const writer = new GeometryWriter(header.dimensions)
  const targetsOf = (columns: readonly FlatColumn[]) =>
    columns.map(({ name }) => fields.findIndex((field) => field.name === name))
  const targets = targetsOf(header.columns)
  const rowOf = (feature: Table, size: number) => {
    const geometry = feature.table(FEATURE.geometry)
    const wkb = geometry && writer.write(geometry, header.type, size)
    const hasOwn = feature.vector(FEATURE.columns, 4).length > 0
    const columns = hasOwn ? columnsOf(feature, FEATURE.columns) : header.columns
    const { at, length } = feature.vector(FEATURE.properties, 1)
    const cells = cellsOf(feature.view, at, length, columns)
    const values: unknown[] = Array.from({ length: fields.length }, () => null)
    for (const [column, target] of (hasOwn ? targetsOf(columns) : targets).entries()) values[target] = cells[column]
    return { wkb, values }
  }
  for (const { wkb, values } of eachFeature(path, header, rowOf)) {
    builder.add(wkb, values)
    if (builder.isFull) yield builder.take()
  }
  if (!builder.isEmpty) yield builder.take()
}

function readHeader(path: string): Header {
  const file = openSync(path, 'r')
  try {
    const head = Buffer.alloc(MAGIC_BYTES + SIZE_BYTES)
    const { size: fileBytes } = fstatSync(file)
    if (readSync(file, head, 0, head.length, 0) < head.length) throw new RangeError('it ends within its header')
    const size = head.readUInt32LE(MAGIC_BYTES)
    if (head.length + size > fileBytes) throw new RangeError('it ends within its header')
    const bytes = Buffer.alloc(size)
    readSync(file, bytes, 0, size, head.length)
    const header = Table.from(viewOf(bytes), 0)
    const features = header.long(HEADER.features)
    const dimensions = `xy${header.byte(HEADER.hasZ) ? 'z' : ''}${header.byte(HEADER.hasM) ? 'm' : ''}` as Dimensions
    return {
      name: header.text(HEADER.name) || 'features',
      type: header.byte(HEADER.type),
      dimensions,
      columns: columnsOf(header, HEADER.columns),
      srid: sridOf(header.table(HEADER.crs)),
      features,
      start: head.length + size + indexBytes(features, header.short(HEADER.nodeSize, 16)),
    }
  } catch (error) {
    throw damaged(error, 'its header')
  } finally {
    closeSync(file)
  }
}

/** Yields the result of `make` for each feature of a file. Its bytes are valid until the next one. */
function* eachFeature<T>(path: string, header: Header, make: (feature: Table, size: number) => T): Generator<T> {
  const file = openSync(path, 'r')
  let count = 0
  try {
    let bytes = Buffer.alloc(CHUNK_BYTES)
    let [from, to, position] = [0, 0, header.start]
    const { size: fileBytes } = fstatSync(file)
    const fill = (needed: number) => {
      if (to - from >= needed) return
      const left = position - to + from
      if (needed > fileBytes - left) throw new RangeError('it ends within a feature')
      const rest = bytes.subarray(from, to)
      const larger = needed > bytes.length ? Buffer.alloc(needed + CHUNK_BYTES) : bytes
      rest.copy(larger)
      bytes = larger
      ;[from, to] = [0, rest.length]
      while (to < needed) {
        const read = readSync(file, bytes, to, bytes.length - to, position)
        if (read === 0) throw new RangeError('it ends within a feature')
        to += read
        position += read
      }
    }
    while (header.features === 0 ? position - to + from < fileBytes : count < header.features) {
      fill(SIZE_BYTES)
      const size = bytes.readUInt32LE(from)
      fill(SIZE_BYTES + size)
      const view = new DataView(bytes.buffer, bytes.byteOffset + from + SIZE_BYTES, size)
      yield make(Table.from(view, 0), size)
      from += SIZE_BYTES + size
      count++
    }
  } catch (error) {
    throw damaged(error, `feature ${count + 1}`)
  } finally {
    closeSync(file)
  }
}

function columnsOf(table: Table, slot: number): FlatColumn[] {
  return Array.from(table.tables(slot), (column) => {
    const type = column.byte(COLUMN.type)
    if (type >= FIELD_TYPES.length) throw new RangeError(`a column is of type ${type}`)
    return { name: column.text(COLUMN.name) ?? '', type }
  })
}

/** EPSG code of a reference system; null when neither its code nor its text is one of EPSG. */
function sridOf(crs: Table | null): number | null {
  if (crs === null) return null
  const org = crs.text(CRS.org)
  const code = crs.int(CRS.code)
  if (code > 0 && (org === null || /^EPSG$/i.test(org))) return code
  return sridOfCrs(`${org}:${crs.text(CRS.codeText)}`) ?? sridOfCrs(crs.text(CRS.wkt) ?? '')
}

/** Size of the packed tree in bytes: levels of nodes up to the root, also for a single feature. */
function indexBytes(features: number, nodeSize: number): number {
  if (nodeSize < 2 || features === 0) return 0
  let nodes = features
  let all = features
  do {
    nodes = Math.ceil(nodes / nodeSize)
    all += nodes
  } while (nodes > 1)
  return all * NODE_BYTES
}

function viewOf(bytes: Buffer): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Turns a read beyond the bytes into an error about the file; returns any other error unchanged. */
function damaged(error: unknown, where: string): unknown {
  if (!(error instanceof RangeError)) return error
  return conversionFailed({ reason: `the FlatGeobuf is damaged at ${where}: ${error.message}` }, { cause: error })
}
