import { deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'

/** Data type of an array. */
export type ZarrFixtureType = 'int8' | 'uint8' | 'int16' | 'float16' | 'float32' | 'float64'

/** An array of a Zarr store, and how it is written. */
export interface ZarrFixture {
  readonly version: 2 | 3
  /** Path in the store; empty for the root. */
  readonly path: string
  readonly names: readonly string[]
  readonly shape: readonly number[]
  readonly chunk: readonly number[]
  /** Shape of the shards; only in version 3. */
  readonly shard?: readonly number[]
  readonly type: ZarrFixtureType
  readonly codec?: 'gzip' | 'zlib' | 'zstd'
  readonly order?: 'C' | 'F'
  readonly bigEndian?: boolean
  readonly separator?: '.' | '/'
  readonly fill?: number | null
  readonly attributes?: Readonly<Record<string, unknown>>
  readonly valueAt: (position: readonly number[]) => number
  /** Chunks that are not written, by their position in the grid. */
  readonly isMissing?: (chunk: readonly number[]) => boolean
}

/** Objects of a store by their keys. */
export type ZarrObjects = Map<string, Uint8Array>

const CODES = { int8: 'i1', uint8: 'u1', int16: 'i2', float16: 'f2', float32: 'f4', float64: 'f8' } as const
type Samples = Int8Array | Uint8Array | Int16Array | Float16Array | Float32Array | Float64Array
const ARRAYS: Readonly<Record<ZarrFixtureType, new (length: number) => Samples>> = {
  int8: Int8Array,
  uint8: Uint8Array,
  int16: Int16Array,
  float16: Float16Array,
  float32: Float32Array,
  float64: Float64Array,
}
const ENCODE = { gzip: gzipSync, zlib: deflateSync, zstd: zstdCompressSync } as const
const NEVER = 2n ** 64n - 1n

/** The metadata of a group. */
export function writeZarrGroup(version: 2 | 3, path: string, attributes: object = {}): ZarrObjects {
  if (version === 3) return documents(path, { 'zarr.json': { zarr_format: 3, node_type: 'group', attributes } })
  return documents(path, { '.zgroup': { zarr_format: 2 }, '.zattrs': attributes })
}

/** The metadata and chunks of an array. */
export function writeZarr(array: ZarrFixture): ZarrObjects {
  const { version, path, shape, chunk, shard } = array
  const objects = documents(path, version === 3 ? { 'zarr.json': metadataOfV3(array) } : metadataOfV2(array))
  const separator = array.separator ?? (version === 3 ? '/' : '.')
  const grid = shape.map((size, axis) => Math.ceil(size / (shard ?? chunk)[axis]!))
  for (const position of positionsIn(grid)) {
    const bytes = shard === undefined ? chunkAt(array, position) : shardAt(array, shard, position)
    if (bytes === null) continue
    const name = [...(version === 3 ? ['c'] : []), ...position].join(separator)
    objects.set(path === '' ? name : `${path}/${name}`, bytes)
  }
  return objects
}

/** Every position of a grid, the last dimension fastest. */
function* positionsIn(grid: readonly number[]): Generator<number[]> {
  const count = grid.reduce((all, size) => all * size, 1)
  for (let index = 0; index < count; index++) {
    let rest = index
    const position = grid.map(() => 0)
    for (let axis = grid.length - 1; axis >= 0; axis--) {
      position[axis] = rest % grid[axis]!
      rest = Math.floor(rest / grid[axis]!)
    }
    yield position
  }
}

function chunkAt(array: ZarrFixture, position: readonly number[]): Uint8Array | null {
  const { chunk, shape, type, order = 'C', codec, bigEndian = false, fill } = array
  if (array.isMissing?.(position) === true) return null
  const samples = new ARRAYS[type](chunk.reduce((all, size) => all * size, 1))
  let at = 0
  for (const turned of positionsIn(order === 'C' ? chunk : chunk.toReversed())) {
    const inside = order === 'C' ? turned : turned.toReversed()
    const place = inside.map((offset, axis) => position[axis]! * chunk[axis]! + offset)
    samples[at++] = place.every((index, axis) => index < shape[axis]!) ? array.valueAt(place) : (fill ?? 0)
  }
  const bytes = new Uint8Array(samples.buffer)
  if (bigEndian) {
    for (let i = 0; i < bytes.length; i += samples.BYTES_PER_ELEMENT) {
      bytes.subarray(i, i + samples.BYTES_PER_ELEMENT).reverse()
    }
  }
  return codec === undefined ? bytes : new Uint8Array(ENCODE[codec](bytes))
}

/** Chunks one after the other, and behind them the offset and length of each. */
function shardAt(array: ZarrFixture, shard: readonly number[], position: readonly number[]): Uint8Array | null {
  const inner = shard.map((size, axis) => size / array.chunk[axis]!)
  const chunks = [...positionsIn(inner)].map((inside) =>
    chunkAt(
      array,
      inside.map((offset, axis) => position[axis]! * inner[axis]! + offset),
    ),
  )
  if (chunks.every((chunk) => chunk === null)) return null
  const index = new DataView(new ArrayBuffer(16 * chunks.length))
  let offset = 0
  for (const [i, chunk] of chunks.entries()) {
    index.setBigUint64(16 * i, chunk === null ? NEVER : BigInt(offset), true)
    index.setBigUint64(16 * i + 8, chunk === null ? NEVER : BigInt(chunk.length), true)
    offset += chunk?.length ?? 0
  }
  return new Uint8Array(Buffer.concat([...chunks.filter((chunk) => chunk !== null), new Uint8Array(index.buffer)]))
}

function metadataOfV2(array: ZarrFixture): Record<string, unknown> {
  const { shape, chunk, type, codec, order = 'C', bigEndian = false, fill = null, names, attributes } = array
  const isByte = type === 'int8' || type === 'uint8'
  return {
    '.zarray': {
      zarr_format: 2,
      shape,
      chunks: chunk,
      dtype: `${isByte ? '|' : bigEndian ? '>' : '<'}${CODES[type]}`,
      compressor: codec === undefined ? null : { id: codec, level: 1 },
      filters: null,
      fill_value: Number.isNaN(fill) ? 'NaN' : fill,
      order,
      ...(array.separator && { dimension_separator: array.separator }),
    },
    '.zattrs': { _ARRAY_DIMENSIONS: names, ...attributes },
  }
}

function metadataOfV3(array: ZarrFixture): unknown {
  const { shape, chunk, shard, type, codec, order = 'C', bigEndian = false, fill, names, attributes = {} } = array
  const little = { name: 'bytes', configuration: { endian: 'little' } }
  const codecs = [
    ...(order === 'F'
      ? [{ name: 'transpose', configuration: { order: shape.map((_, i) => shape.length - 1 - i) } }]
      : []),
    { name: 'bytes', configuration: { endian: bigEndian ? 'big' : 'little' } },
    ...(codec === undefined
      ? []
      : [{ name: codec, configuration: codec === 'zstd' ? { level: 1, checksum: false } : { level: 1 } }]),
  ]
  const sharding = { chunk_shape: chunk, codecs, index_codecs: [little], index_location: 'end' }
  return {
    zarr_format: 3,
    node_type: 'array',
    shape,
    data_type: type,
    chunk_grid: { name: 'regular', configuration: { chunk_shape: shard ?? chunk } },
    chunk_key_encoding: { name: 'default', configuration: { separator: array.separator ?? '/' } },
    fill_value: Number.isNaN(fill) ? 'NaN' : (fill ?? 0),
    codecs: shard === undefined ? codecs : [{ name: 'sharding_indexed', configuration: sharding }],
    dimension_names: names,
    attributes,
  }
}

function documents(path: string, named: Readonly<Record<string, unknown>>): ZarrObjects {
  return new Map(
    Object.entries(named).map(([name, value]) => [
      path === '' ? name : `${path}/${name}`,
      new TextEncoder().encode(JSON.stringify(value)),
    ]),
  )
}
