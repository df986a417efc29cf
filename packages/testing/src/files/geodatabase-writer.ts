import { filesOf } from './make-formats.ts'
import type { ZipEntry } from './zip-writer.ts'

// GDAL writes no types of ArcGIS Pro 3.2, so fields of these are appended. Names: "FGDB-Spec", rouault/dump_gdbtable.

/** Values of a row in the fields `big`, `day`, `at` and `stamp`; null for an empty field. */
export interface NewValues {
  readonly big: bigint | null
  /** Days since 1899-12-30. */
  readonly day: number | null
  /** Fraction of a day. */
  readonly at: number | null
  /** Local time in days, and its offset from UTC in minutes. */
  readonly stamp: readonly [number, number] | null
  /** Default: `n` and the number of the row. */
  readonly name?: string
}

const NEW_FIELDS = [
  ['big', 13, 8],
  ['day', 14, 8],
  ['at', 15, 8],
  ['stamp', 16, 10],
] as const
const HEAD_BYTES = 40
const BLOCK_ROWS = 1024
const PLACE_BYTES = 5
/** The first table of features of a geodatabase that GDAL writes, and its fields that may be null. */
const TABLE = 'a00000009'
const NULLABLE = 3

/** A geodatabase of one layer of points with a field `name` and `i`, as the files of an archive. */
export async function writeGeodatabase(
  rows: readonly NewValues[],
  options: { readonly version?: 3 | 4; readonly isUtf16?: boolean; readonly layer?: string } = {},
): Promise<ZipEntry[]> {
  const features = rows.map(({ name }, i) => ({
    type: 'Feature',
    properties: { name: name ?? `n${i}`, i },
    geometry: { type: 'Point', coordinates: [i, i + 1] },
  }))
  const encoding = options.isUtf16 ? ['-lco', 'CONFIGURATION_KEYWORD=TEXT_UTF16'] : []
  const layer = options.layer === undefined ? [] : ['-nln', options.layer]
  const collection = JSON.stringify({ type: 'FeatureCollection', features })
  const files = await filesOf('OpenFileGDB', collection, [...encoding, ...layer])
  const table = files.find(({ name }) => name.endsWith(`${TABLE}.gdbtable`))!.data
  const made = withNewFields(table, rows, options.version ?? 3)
  return files
    .filter(({ name }) => !name.includes(TABLE))
    .concat(
      { name: `new.gdb/${TABLE}.gdbtable`, data: made.table },
      { name: `new.gdb/${TABLE}.gdbtablx`, data: made.places },
    )
    .map(({ name, data }) => ({ name: name.replace(/^.*\//, 'new.gdb/'), data }))
}

function withNewFields(old: Buffer, rows: readonly NewValues[], version: 3 | 4) {
  const start = Number(old.readBigUInt64LE(32))
  const end = start + 4 + old.readUInt32LE(start)
  const described = describe(old.subarray(start, end))
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeInt32LE(version)
  if (version === 3) head.writeInt32LE(rows.length, 4)
  else head.writeBigInt64LE(BigInt(rows.length), 16)
  head.writeInt32LE(5, 12)
  head.writeBigInt64LE(BigInt(HEAD_BYTES), 32)
  const parts = [head, described]
  let position = HEAD_BYTES + described.length
  const places: number[] = []
  let from = end
  for (const values of rows) {
    const next = from + 4 + old.readUInt32LE(from)
    const row = Buffer.concat([old.subarray(from + 4, next), ...valuesOf(values)])
    row[0] = (row[0]! & ((1 << NULLABLE) - 1)) | nullsOf(values)
    const size = Buffer.alloc(4)
    size.writeUInt32LE(row.length)
    parts.push(size, row)
    places.push(position)
    position += 4 + row.length
    from = next
  }
  head.writeInt32LE(1 << 16, 8)
  head.writeBigInt64LE(BigInt(position), 24)
  return { table: Buffer.concat(parts), places: listOf(places, version) }
}

function describe(old: Buffer): Buffer {
  const added = NEW_FIELDS.flatMap(([name, type, width]) => [
    Buffer.from([name.length]),
    Buffer.from(name, 'utf16le'),
    Buffer.from([0, type, width, 1, 0]),
  ])
  // GDAL writes four bytes after the fields.
  const whole = Buffer.concat([old.subarray(0, -4), ...added, old.subarray(-4)])
  whole.writeUInt32LE(whole.length - 4)
  whole.writeUInt16LE(old.readUInt16LE(12) + NEW_FIELDS.length, 12)
  return whole
}

function nullsOf({ big, day, at, stamp }: NewValues): number {
  return [big, day, at, stamp].reduce<number>((bits, value, i) => bits | (value === null ? 1 << (NULLABLE + i) : 0), 0)
}

function double(value: number): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeDoubleLE(value)
  return bytes
}

function valuesOf({ big, day, at, stamp }: NewValues): Buffer[] {
  const whole = Buffer.alloc(8)
  if (big !== null) whole.writeBigInt64LE(big)
  const offset = Buffer.alloc(2)
  offset.writeInt16LE(stamp?.[1] ?? 0)
  return [
    ...(big === null ? [] : [whole]),
    ...(day === null ? [] : [double(day)]),
    ...(at === null ? [] : [double(at)]),
    ...(stamp === null ? [] : [double(stamp[0]), offset]),
  ]
}

/** The places of rows; every other block of 1024 numbers is empty, as after many rows were deleted. */
function listOf(places: readonly number[], version: 3 | 4): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32LE(version)
  head.writeUInt32LE(1, 4)
  if (version === 3) head.writeUInt32LE(2 * BLOCK_ROWS, 8)
  head.writeUInt32LE(PLACE_BYTES, 12)
  const block = Buffer.alloc(BLOCK_ROWS * PLACE_BYTES)
  // Numbers with a gap: a row that was deleted has no place.
  for (const [i, place] of places.entries()) block.writeUIntLE(place, 2 * i * PLACE_BYTES, PLACE_BYTES)
  // Only the second of two blocks exists.
  const map = Buffer.from([0b10])
  if (version === 3) {
    const tail = Buffer.alloc(16)
    for (const [i, value] of [1, 2, 1, 0].entries()) tail.writeUInt32LE(value, 4 * i)
    return Buffer.concat([head, block, tail, map, Buffer.alloc(3)])
  }
  const tail = Buffer.alloc(12)
  tail.writeBigUInt64LE(BigInt(2 * BLOCK_ROWS))
  tail.writeUInt32LE(22 + 32_768 + 52, 8)
  const section = Buffer.alloc(22 + 32_768 + 52)
  section[0] = 1
  section[2] = 1
  map.copy(section, 22)
  section[22 + 32_768] = 1
  return Buffer.concat([head, block, tail, section])
}
