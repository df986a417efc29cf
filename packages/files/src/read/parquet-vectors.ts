import { Warnings } from '@terrane/core/errors'
import { wkbOfGeoJson } from '@terrane/core/wkb'
import { parquetMetadataAsync, parquetSchema, type AsyncBuffer, type FileMetaData, type SchemaTree } from 'hyparquet'
import {
  columnMissing,
  conversionFailed,
  groupsTooLarge,
  placesNotFound,
  vectorLengths,
  vectorsNotFound,
} from '../errors.ts'
import { coordinateColumns } from './coordinate-columns.ts'
import { bufferOf, geometryOf, untoldGeometry, valuesOf } from './parquet.ts'
import { leafNames, scalarType } from './parquet-schema.ts'
import { warnAssumed } from './untold-geometry.ts'

/** Columns of a table of vectors, by name; absent ones are detected. */
export interface VectorColumns {
  readonly vector?: string | undefined
  readonly geometry?: string | undefined
  /** Longitude and latitude, in place of geometries. */
  readonly x?: string | undefined
  readonly y?: string | undefined
  /** EPSG code of the positions; overrides the file's. */
  readonly srid?: number | undefined
}

/** Rows of a row group. */
export interface VectorRows {
  /** Number of the first row in the file. */
  readonly start: number
  readonly count: number
  /** Stored numbers of each row; null where the row has none. */
  readonly vectors: readonly (ArrayLike<number> | null)[]
  /** WKB; null where the row has none. */
  readonly places: readonly (Uint8Array | null)[]
  /** Values of the requested columns, in their order. */
  readonly columns: readonly (readonly unknown[])[]
}

/** A Parquet file with a column of vectors and places. */
export interface VectorTable {
  readonly rows: number
  /** Numbers of a vector. */
  readonly dims: number
  readonly vector: string
  /** Type of the stored numbers, as Parquet or its logical type calls it, in lower case: `float`, `float16`, `int8`, `text`, …. */
  readonly storedType: string
  /** EPSG code of the places; null where it is unknown. */
  readonly srid: number | null
  /** The file names no reference system, so it is taken to be EPSG:4326, with the warning `SYSTEM_ASSUMED`. */
  readonly isAssumed: boolean
  /** Names of all columns. */
  readonly names: readonly string[]
  /** Metadata of the file, by key. */
  readonly metadata: ReadonlyMap<string, string>
  readonly warnings: Warnings
  read(columns: readonly string[]): AsyncGenerator<VectorRows>
}

const WGS84 = 4326
/** Maximum numbers of a row group; each takes 8 bytes while the group is read. */
const MOST_NUMBERS = 1 << 27
/** Names of vectors, the likeliest first. */
const NAMES = ['embedding', 'embeddings', 'vector', 'vectors', 'emb', 'features']
const NUMBERS = /^(?:float|float16|double|u?int(?:8|16|32|64))$/

/**
 * Opens a table of vectors. A vector is a list of numbers of one length, fixed or variable, or the text `[1,2,3]` that
 * pgvector writes.
 *
 * @throws VECTORS_NOT_FOUND, VECTOR_LENGTHS, PLACES_NOT_FOUND, COLUMN_MISSING, VECTOR_GROUPS_TOO_LARGE, CONVERSION_FAILED
 */
export async function openVectorTable(path: string, wanted: VectorColumns): Promise<VectorTable> {
  const file = await bufferOf(path)
  const metadata = await parquetMetadataAsync(file)
  const { children } = parquetSchema(metadata)
  const names = children.map(({ element }) => element.name)
  const { srid: _, ...asked } = wanted
  for (const [field, name] of Object.entries(asked)) {
    if (name !== undefined && !names.includes(name)) throw columnMissing({ field: `columns/${field}`, name, names })
  }
  guardGroups(metadata)
  const warnings = new Warnings()
  const { name: vector, type: storedType } = findVector(children, wanted.vector)
  const places = await findPlaces({ file, metadata }, children, { ...wanted, vector }, warnings)
  const dims = await firstLength(file, metadata, vector)
  return {
    rows: Number(metadata.num_rows),
    dims,
    vector,
    storedType,
    srid: places.srid,
    isAssumed: places.isAssumed,
    names,
    metadata: new Map((metadata.key_value_metadata ?? []).map(({ key, value }) => [key, value ?? ''])),
    warnings,
    read: (columns) => readGroups(file, metadata, { vector, places, dims }, columns),
  }
}

interface Places {
  readonly columns: readonly string[]
  readonly srid: number | null
  readonly isAssumed: boolean
  readonly decode: (values: readonly unknown[]) => Uint8Array | null
}

async function* readGroups(
  file: AsyncBuffer,
  metadata: FileMetaData,
  plan: { readonly vector: string; readonly places: Places; readonly dims: number },
  columns: readonly string[],
): AsyncGenerator<VectorRows> {
  const { vector, places, dims } = plan
  const names = [...new Set([vector, ...places.columns, ...columns])]
  const at = (name: string) => names.indexOf(name)
  let start = 0
  for (const group of metadata.row_groups) {
    const count = Number(group.num_rows)
    const values = await valuesOf(file, metadata, names, { start, end: start + count })
    const cells = places.columns.map((name) => values[at(name)]!)
    yield {
      start,
      count,
      vectors: Array.from({ length: count }, (_, row) => vectorOf(values[at(vector)]![row], dims, start + row)),
      places: Array.from({ length: count }, (_, row) => places.decode(cells.map((column) => column[row]))),
      columns: columns.map((name) => values[at(name)]!),
    }
    start += count
  }
}

/** @throws VECTOR_LENGTHS */
function vectorOf(value: unknown, dims: number, row: number): ArrayLike<number> | null {
  const numbers = numbersOf(value)
  if (numbers !== null && numbers.length !== dims) throw vectorLengths({ row: row + 1, dims, length: numbers.length })
  return numbers
}

function numbersOf(value: unknown): ArrayLike<number> | null {
  if (value === null || value === undefined) return null
  if (value instanceof Uint8Array || typeof value === 'string') return ofText(value)
  const list = value as ArrayLike<number | bigint | null>
  // Lists of 64-bit numbers, and lists with gaps.
  if (typeof list[0] !== 'number' || (Array.isArray(list) && list.includes(null)))
    return Array.from(list, (number) => (number === null ? Number.NaN : Number(number)))
  return list as ArrayLike<number>
}

function ofText(value: Uint8Array | string): number[] | null {
  const text = (typeof value === 'string' ? value : Buffer.from(value).toString('utf8')).trim()
  if (!text.startsWith('[') || !text.endsWith(']')) return null
  const parts = text.slice(1, -1).split(',')
  // An empty text would become 0.
  return parts.some((part) => part.trim() === '') ? null : parts.map(Number)
}

/** The length of the first vector, which all others must have. @throws VECTORS_NOT_FOUND */
async function firstLength(file: AsyncBuffer, metadata: FileMetaData, vector: string): Promise<number> {
  let start = 0
  for (const { num_rows: rows } of metadata.row_groups) {
    const [values = []] = await valuesOf(file, metadata, [vector], { start, end: start + Number(rows) })
    const first = values.map(numbersOf).find((numbers) => numbers !== null && numbers.length > 0)
    if (first) return first.length
    start += Number(rows)
  }
  throw vectorsNotFound({ names: [vector], why: `column ${vector} holds no vector` })
}

/** @throws VECTORS_NOT_FOUND */
function findVector(children: readonly SchemaTree[], wanted: string | undefined): { name: string; type: string } {
  const found = children.flatMap((node) => {
    const type = vectorType(node)
    return type === null ? [] : [{ name: node.element.name, type }]
  })
  const names = children.map(({ element }) => element.name)
  if (wanted !== undefined) {
    const column = found.find(({ name }) => name === wanted)
    if (column) return column
    throw vectorsNotFound({ names, why: `column ${wanted} holds no list of numbers` })
  }
  const lists = found.filter(({ type }) => type !== 'text')
  for (const name of NAMES) {
    const named = found.find((column) => column.name.toLowerCase() === name)
    if (named) return named
  }
  if (lists.length === 1) return lists[0]!
  const why = lists.length === 0 ? 'no column holds lists of numbers' : `${lists.length} columns hold lists of numbers`
  throw vectorsNotFound({ names, why })
}

/** The type of the numbers of a list, or `text`; null for other types. */
function vectorType(node: SchemaTree): string | null {
  if (node.children.length === 0) {
    if (node.element.repetition_type === 'REPEATED') return numberType(node.element)
    return scalarType(node.element) === 'text' ? 'text' : null
  }
  let leaf = node
  while (leaf.children.length === 1) leaf = leaf.children[0]!
  const isList = node.children.length === 1 && node.children[0]!.element.repetition_type === 'REPEATED'
  return isList && leaf.children.length === 0 && leafNames(node).length === 1 ? numberType(leaf.element) : null
}

function numberType({ type, converted_type: converted, logical_type: logical }: SchemaTree['element']): string | null {
  const { bitWidth, isSigned } = (logical ?? {}) as { bitWidth?: number; isSigned?: boolean }
  const integer =
    bitWidth === undefined ? converted?.replace('_', '') : `${isSigned === false ? 'u' : ''}int${bitWidth}`
  const name = (logical?.type === 'FLOAT16' ? 'float16' : (integer ?? type ?? '')).toLowerCase()
  return NUMBERS.test(name) ? name : null
}

async function findPlaces(
  from: { readonly file: AsyncBuffer; readonly metadata: FileMetaData },
  children: readonly SchemaTree[],
  wanted: VectorColumns,
  warnings: Warnings,
): Promise<Places> {
  const names = children.map(({ element }) => element.name)
  const others = children.filter(({ element, children: parts }) => parts.length === 0 && element.name !== wanted.vector)
  if (wanted.x === undefined && wanted.y === undefined) {
    const columns = others.map(({ element }) => ({ name: element.name, type: scalarType(element) }))
    const told = wanted.geometry === undefined ? geometryOf(from.metadata, children, warnings) : null
    const asked = wanted.geometry === undefined ? columns : columns.filter(({ name }) => name === wanted.geometry)
    const geometry = told ?? (await untoldGeometry(from, asked, wanted.srid, warnings))
    if (geometry) {
      const isAssumed = geometry.isUndefined && wanted.srid === undefined
      if (isAssumed) warnAssumed(geometry.name, warnings)
      const srid = wanted.srid ?? (isAssumed ? WGS84 : geometry.srid)
      return { columns: [geometry.name], srid, isAssumed, decode: ([value]) => geometry.decode(value) }
    }
  }
  const plain = others.map(({ element }) => element.name)
  const centres = plain.filter((name) => /^cent(?:re|er)_(?:lon|lat)$/.test(name))
  const pair = coordinateColumns(centres.length === 2 ? centres : plain, wanted)
  if (!('x' in pair)) throw placesNotFound({ names })
  const axes = centres.length === 2 ? centres : plain
  return { columns: [axes[pair.x]!, axes[pair.y]!], srid: wanted.srid ?? WGS84, isAssumed: false, decode: pointOf }
}

function pointOf(cells: readonly unknown[]): Uint8Array | null {
  // Whole degrees may be stored as 64-bit integers.
  const [lng, lat] = cells.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell))
  const isPoint = typeof lng === 'number' && typeof lat === 'number' && Number.isFinite(lng) && Number.isFinite(lat)
  return isPoint ? wkbOfGeoJson({ type: 'Point', coordinates: [lng, lat] }) : null
}

/** @throws VECTOR_GROUPS_TOO_LARGE, CONVERSION_FAILED */
function guardGroups({ row_groups: groups, num_rows: rows }: FileMetaData): void {
  const inGroups = groups.reduce((sum, group) => sum + Number(group.num_rows), 0)
  if (inGroups !== Number(rows)) {
    throw conversionFailed({ reason: `it states ${rows} rows, and its row groups have ${inGroups}` })
  }
  for (const { columns } of groups) {
    const numbers = columns.reduce((most, { meta_data: about }) => Math.max(most, Number(about?.num_values ?? 0)), 0)
    if (numbers > MOST_NUMBERS) throw groupsTooLarge({ numbers, limit: MOST_NUMBERS })
  }
}
