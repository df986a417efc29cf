import { zarrUnusable } from './errors.ts'

/** Maximum size of a decoded chunk in bytes. */
const MAX_CHUNK_BYTES = 256 << 20
/** Maximum number of chunks of a shard: its index takes 16 bytes of each. */
const MAX_SHARD_CHUNKS = 1 << 22
const MAX_RANK = 8
/** Maximum length of a dimension. */
const MAX_SIDE = 1 << 24

/** A JSON object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>

/** The metadata of a store. */
export interface ZarrStore {
  /** A metadata document by its key; null when there is none. */
  json(key: string): Promise<Fields | null>
}

/** An array of a store. Plain data. */
export interface ZarrArray {
  readonly version: 2 | 3
  /** Path in the store, without slashes at its ends. */
  readonly path: string
  /** Names of its dimensions; empty without. */
  readonly names: readonly string[]
  readonly shape: readonly number[]
  /** Shape of the chunks. */
  readonly chunk: readonly number[]
  /** Shape of what one object holds: a chunk, or a shard of many. */
  readonly object: readonly number[]
  readonly dataType: ZarrType
  readonly key: { readonly prefix: string; readonly separator: string }
  /** Value of samples that were never written; null when it is not defined. */
  readonly fill: number | null
  readonly attributes: Fields
}

/** A group or an array. `arrays` are the paths of arrays in the consolidated metadata of a group, or null. */
export type ZarrNode =
  | { readonly kind: 'group'; readonly attributes: Fields; readonly arrays: readonly string[] | null }
  | { readonly kind: 'array'; readonly attributes: Fields; readonly array: ZarrArray }

/** Bytes of a sample by data type. */
const BYTES = {
  int8: 1,
  uint8: 1,
  int16: 2,
  uint16: 2,
  int32: 4,
  uint32: 4,
  int64: 8,
  uint64: 8,
  float16: 2,
  float32: 4,
  float64: 8,
} as const
/** Data types of samples. */
export type ZarrType = keyof typeof BYTES

const V2_TYPES: Readonly<Record<string, ZarrType>> = {
  i1: 'int8',
  u1: 'uint8',
  i2: 'int16',
  u2: 'uint16',
  i4: 'int32',
  u4: 'uint32',
  i8: 'int64',
  u8: 'uint64',
  f2: 'float16',
  f4: 'float32',
  f8: 'float64',
}

/** Members of an array's metadata of version 3; readers refuse others, unless they are marked as not needed. */
const V3_MEMBERS = new Set(
  'zarr_format node_type shape data_type chunk_grid chunk_key_encoding codecs fill_value attributes dimension_names consolidated_metadata'.split(
    ' ',
  ),
)

/** Bytes of a sample; null for a type that is not read. */
export function bytesOf(type: string): number | null {
  return Object.hasOwn(BYTES, type) ? BYTES[type as ZarrType] : null
}

/** The number of positions of a grid. */
export function product(sizes: readonly number[]): number {
  return sizes.reduce((all, size) => all * size, 1)
}

/**
 * Reads the metadata of a node.
 *
 * Source: https://zarr-specs.readthedocs.io/en/latest/specs.html, versions 2 and 3
 *
 * @returns null when there is no node
 * @throws ZARR_UNUSABLE for an array that is not read
 */
export async function readNode(store: ZarrStore, path: string): Promise<ZarrNode | null> {
  const keyOf = (name: string) => (path === '' ? name : `${path}/${name}`)
  const v3 = await store.json(keyOf('zarr.json'))
  if (v3 !== null) {
    const attributes = fieldsOf(v3['attributes'])
    if (v3['node_type'] === 'array') return { kind: 'array', attributes, array: arrayOfV3(path, v3) }
    return { kind: 'group', attributes, arrays: arraysOfV3(v3) }
  }
  const v2 = await store.json(keyOf('.zarray'))
  if (v2 === null && (await store.json(keyOf('.zgroup'))) === null) return null
  const attributes = (await store.json(keyOf('.zattrs'))) ?? {}
  if (v2 !== null) return { kind: 'array', attributes, array: arrayOfV2(path, v2, attributes) }
  return { kind: 'group', attributes, arrays: arraysOfV2(await store.json(keyOf('.zmetadata'))) }
}

/** The key of the object with a position in the grid of objects. */
export function objectKey({ path, key }: ZarrArray, position: readonly number[]): string {
  const name = `${key.prefix}${position.join(key.separator)}`
  return path === '' ? name : `${path}/${name}`
}

function arraysOfV3(group: Fields): string[] | null {
  const all = fieldsOf(fieldsOf(group['consolidated_metadata'])['metadata'])
  const names = Object.keys(all).filter((name) => fieldsOf(all[name])['node_type'] === 'array')
  return names.length === 0 ? null : names
}

function arraysOfV2(consolidated: Fields | null): string[] | null {
  if (consolidated === null) return null
  const names = Object.keys(fieldsOf(consolidated['metadata']))
  return names.filter((name) => name.endsWith('/.zarray')).map((name) => name.slice(0, -'/.zarray'.length))
}

function arrayOfV3(path: string, meta: Fields): ZarrArray {
  const shape = sizesOf(meta['shape'], 'shape')
  const grid = fieldsOf(meta['chunk_grid'])
  if (grid['name'] !== 'regular') throw zarrUnusable({ why: 'its chunk grid is not regular' })
  const object = sizesOf(fieldsOf(grid['configuration'])['chunk_shape'], 'chunk shape', shape.length)
  const codecs = Array.isArray(meta['codecs']) ? meta['codecs'].map(fieldsOf) : []
  const sharding = codecs.find(({ name }) => name === 'sharding_indexed')
  const { chunk_shape: inner, index_location: place = 'end' } = fieldsOf(sharding?.['configuration'])
  if (sharding && (codecs.length > 1 || place !== 'end')) {
    throw zarrUnusable({ why: 'its shards are encoded, or have their index at the start' })
  }
  const foreign = Object.keys(meta).find((name) => !V3_MEMBERS.has(name) && isNeeded(meta[name]))
  if (foreign !== undefined) throw zarrUnusable({ why: `its metadata have "${foreign}", which is not understood` })
  const encoding = fieldsOf(meta['chunk_key_encoding'])
  const isDefault = encoding['name'] === 'default'
  if (!isDefault && encoding['name'] !== 'v2') throw zarrUnusable({ why: 'its chunk keys are encoded in another way' })
  const separator = separatorOf(fieldsOf(encoding['configuration'])['separator'] ?? (isDefault ? '/' : '.'))
  return checked({
    version: 3,
    path,
    names: namesOf(meta['dimension_names'] ?? fieldsOf(meta['attributes'])['_ARRAY_DIMENSIONS']),
    shape,
    chunk: sharding ? sizesOf(inner, 'chunk shape', shape.length) : object,
    object,
    dataType: typeOf(meta['data_type']),
    key: { prefix: isDefault ? `c${separator}` : '', separator },
    fill: numberOf(meta['fill_value']),
    attributes: fieldsOf(meta['attributes']),
  })
}

/** Whether a reader has to understand an unknown member: yes, unless it is empty or marked as optional. */
function isNeeded(value: unknown): boolean {
  const isEmpty = value === null || (Array.isArray(value) && value.length === 0)
  return !isEmpty && fieldsOf(value)['must_understand'] !== false
}

function arrayOfV2(path: string, meta: Fields, attributes: Fields): ZarrArray {
  const shape = sizesOf(meta['shape'], 'shape')
  const chunk = sizesOf(meta['chunks'], 'chunk shape', shape.length)
  const dtype = typeof meta['dtype'] === 'string' ? meta['dtype'] : ''
  return checked({
    version: 2,
    path,
    names: namesOf(attributes['_ARRAY_DIMENSIONS']),
    shape,
    chunk,
    object: chunk,
    dataType: typeOf(V2_TYPES[dtype.slice(1)] ?? dtype),
    key: { prefix: '', separator: separatorOf(meta['dimension_separator'] ?? '.') },
    fill: numberOf(meta['fill_value']),
    attributes,
  })
}

function checked(array: ZarrArray): ZarrArray {
  const { chunk, object, dataType } = array
  const bytes = product(chunk) * BYTES[dataType]
  if (bytes > MAX_CHUNK_BYTES) {
    throw zarrUnusable({ why: `its chunks decode to ${bytes} bytes; the limit is ${MAX_CHUNK_BYTES}` })
  }
  if (object.some((size, i) => size % chunk[i]! !== 0))
    throw zarrUnusable({ why: 'its shards are not multiples of its chunks' })
  const chunks = product(object) / product(chunk)
  if (chunks > MAX_SHARD_CHUNKS) {
    throw zarrUnusable({ why: `its shards have ${chunks} chunks; the limit is ${MAX_SHARD_CHUNKS}` })
  }
  return array
}

function sizesOf(value: unknown, what: string, rank?: number): number[] {
  const sizes: unknown[] = Array.isArray(value) ? value : []
  const isRight = sizes.length > 0 && sizes.length <= MAX_RANK && (rank === undefined || sizes.length === rank)
  if (!isRight || !sizes.every(isSize)) throw zarrUnusable({ why: `its ${what} is not a list of sizes` })
  return sizes.filter(isSize)
}

function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= MAX_SIDE
}

function typeOf(value: unknown): ZarrType {
  const name = typeof value === 'string' ? value : JSON.stringify(value)
  if (bytesOf(name) === null) throw zarrUnusable({ why: `samples of type ${name} are not read` })
  return name as ZarrType
}

function separatorOf(value: unknown): string {
  if (value !== '.' && value !== '/') throw zarrUnusable({ why: 'its chunk keys have another separator than . and /' })
  return value
}

function namesOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map((name) => (typeof name === 'string' ? name : '')) : []
}

/** A number of a metadata document, where texts stand for what JSON cannot write; null for anything else. */
export function numberOf(value: unknown): number | null {
  if (typeof value === 'number') return value
  if (typeof value !== 'string') return null
  if (value === 'NaN') return Number.NaN
  if (value === 'Infinity' || value === '-Infinity') return Number(value)
  return null
}

/** The members of a JSON object; none of anything else. */
export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
}
