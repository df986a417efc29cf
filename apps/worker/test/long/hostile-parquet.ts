const MOST_INT32 = 2 ** 31 - 1
/** Numbers of Parquet's enumerations. */
const [INT32, PLAIN, UNCOMPRESSED, DATA_PAGE_V2, OPTIONAL] = [1, 0, 0, 3, 1]
const MAGIC = Buffer.from('PAR1')

/** One run of as many absent values as a run may have. */
export function parquetOfRun(name: string, rows: number): Buffer {
  return parquet(name, rows, Uint8Array.from([...varint(BigInt(rows) << 1n), 0]))
}

/** Runs of no values, which never add up to the rows that are promised. */
export function parquetOfEmptyRuns(name: string, runs: number): Buffer {
  return parquet(name, MOST_INT32, new Uint8Array(runs * 2))
}

/** A Parquet file of one page and no values, whose rows are what `levels` say. */
function parquet(name: string, rows: number, levels: Uint8Array): Buffer {
  const page = { 1: rows, 2: rows, 3: rows, 4: PLAIN, 5: levels.length, 6: 0, 7: false }
  const header = struct({ 1: DATA_PAGE_V2, 2: levels.length, 3: levels.length, 8: page })
  const size = BigInt(header.length + levels.length)
  const start = BigInt(MAGIC.length)
  const column = { 1: INT32, 2: [PLAIN], 3: [name], 4: UNCOMPRESSED, 5: BigInt(rows), 6: size, 7: size, 9: start }
  const footer = struct({
    1: 2,
    2: [
      { 4: 'root', 5: 1 },
      { 1: INT32, 3: OPTIONAL, 4: name },
    ],
    3: BigInt(rows),
    4: [{ 1: [{ 2: start, 3: column }], 2: size, 3: BigInt(rows) }],
  })
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([MAGIC, Buffer.from(header), levels, Buffer.from(footer), length, MAGIC])
}

/** Fields of a structure by their numbers: a number is an i32, a bigint an i64. */
interface Fields {
  readonly [id: number]: Value
}
type Value = boolean | number | bigint | string | readonly Value[] | Fields

/** Thrift's compact protocol. */
function struct(fields: Fields): number[] {
  let last = 0
  const bytes = Object.entries(fields as Readonly<Record<string, Value>>).flatMap(([id, value]) => {
    const step = Number(id) - last
    last = Number(id)
    return [(step << 4) | codeOf(value), ...(typeof value === 'boolean' ? [] : bytesOf(value))]
  })
  return [...bytes, 0]
}

function codeOf(value: Value): number {
  if (typeof value === 'boolean') return value ? 1 : 2
  if (typeof value === 'number') return 5
  if (typeof value === 'bigint') return 6
  if (typeof value === 'string') return 8
  return Array.isArray(value) ? 9 : 12
}

function bytesOf(value: Exclude<Value, boolean>): number[] {
  if (typeof value === 'number' || typeof value === 'bigint') return varint(BigInt(value) << 1n)
  if (typeof value === 'string') return [...varint(BigInt(Buffer.byteLength(value))), ...Buffer.from(value)]
  if (!Array.isArray(value)) return struct(value)
  const items = value as readonly Exclude<Value, boolean>[]
  return [(items.length << 4) | codeOf(items[0]!), ...items.flatMap(bytesOf)]
}

/** A number that is not negative, seven bits a byte. */
function varint(value: bigint): number[] {
  const bytes: number[] = []
  for (let left = value; ; left >>= 7n) {
    if (left < 128n) return [...bytes, Number(left)]
    bytes.push(Number(left & 127n) | 128)
  }
}
