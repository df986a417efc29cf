import type { FileHandle } from 'node:fs/promises'

// Tables of a file geodatabase, as "FGDB-Spec" of rouault/dump_gdbtable describes them: rows in a .gdbtable, their
// offsets in a .gdbtablx beside it. Numbers are little-endian.

const HEAD_BYTES = 40
const INDEX_HEAD_BYTES = 16
/** Row offsets are listed in blocks of this size; empty blocks may be omitted. */
export const BLOCK_ROWS = 1024
const MOST_FIELD_BYTES = 10 << 20
/** A bit for each block of 2³² rows. */
const MOST_MAP_BYTES = 1 << 19
/** Maximum bytes of a row, which is in memory more than once while it is rewritten. */
const MOST_ROW_BYTES = 1 << 27
const MOST_FIELDS = 10_000
/** For tables with object ids of 64 bits: offset of the block map in the trailer of the list, and its size in bytes. */
const WIDE_MAP_AT = 22
const WIDE_MAP_BYTES = 32_768
const WIDE_MAP_SECTION_BYTES = 22 + WIDE_MAP_BYTES + 52

/** Types of fields that need names here. */
export const FIELD = {
  string: 4,
  objectId: 6,
  geometry: 7,
  binary: 8,
  raster: 9,
  guid: 10,
  globalId: 11,
  xml: 12,
  int64: 13,
  date: 14,
  time: 15,
  stampWithOffset: 16,
} as const

/** Bytes of a value, for types of fixed length. */
const WIDTHS: Readonly<Record<number, number>> = {
  0: 2,
  1: 4,
  2: 4,
  3: 8,
  5: 8,
  6: 0,
  10: 16,
  11: 16,
  13: 8,
  14: 8,
  15: 8,
  16: 10,
}
const MANAGED_RASTER = 1
const NULLABLE = 1
const HAS_DEFAULT = 4

/** A field, and the position of its description. */
export interface TableField {
  readonly name: string
  readonly type: number
  readonly isNullable: boolean
  /** Offsets of its type and of its end, within the description of the fields. */
  readonly typeAt: number
  readonly end: number
  /** Bytes of a value; null for types of variable size. */
  readonly width: number | null
}

/** Header of a table. */
export interface TableHead {
  /** 3, or 4 for object ids of 64 bits. */
  readonly version: number
  readonly rows: number
  /** Description of the fields: its length, 10 bytes of flags and a count, then each. */
  readonly description: Buffer
  readonly fields: readonly TableField[]
}

/** @throws RangeError where the bytes are not those of a table */
export async function readHead(table: FileHandle): Promise<TableHead> {
  const head = await bytesAt(table, 0, HEAD_BYTES)
  const version = head.readInt32LE(0)
  if (version !== 3 && version !== 4) throw new RangeError(`a table of version ${version}`)
  const rows = version === 3 ? head.readInt32LE(4) : Number(head.readBigInt64LE(16))
  const at = Number(head.readBigUInt64LE(32))
  const length = (await bytesAt(table, at, 4)).readUInt32LE()
  if (length < 10 || length > MOST_FIELD_BYTES) throw new RangeError('fields of an odd length')
  const description = await bytesAt(table, at, 4 + length)
  return { version, rows, description, fields: fieldsIn(description) }
}

function fieldsIn(bytes: Buffer): TableField[] {
  const count = bytes.readUInt16LE(12)
  if (count > MOST_FIELDS) throw new RangeError(`${count} fields`)
  const flags = bytes.readUInt8(11)
  const fields: TableField[] = []
  let at = 14
  const skipText = () => {
    const start = at + 1
    at = start + 2 * bytes.readUInt8(at)
    return bytes.toString('utf16le', start, at)
  }
  for (let i = 0; i < count; i++) {
    const name = skipText()
    skipText()
    const typeAt = at
    const type = bytes.readUInt8(at++)
    let width: number | null = WIDTHS[type] ?? null
    let flag: number
    if (type === FIELD.geometry || type === FIELD.raster) {
      flag = bytes.readUInt8(at + 1)
      at += 2
      if (type === FIELD.raster) skipText()
      at += 2 + bytes.readUInt16LE(at)
      const shape = bytes.readUInt8(at++)
      const [measures, heights] = [(shape >> 1) & 1, (shape >> 2) & 1]
      if (type === FIELD.geometry || shape > 0) at += 8 * (4 + 3 * (measures + heights))
      if (type === FIELD.raster) width = bytes.readUInt8(at++) === MANAGED_RASTER ? 4 : null
      else {
        at += 8 * (4 + 2 * ((flags >> 6) & 1) + 2 * (flags >> 7)) + 1
        at += 4 + 8 * bytes.readUInt32LE(at)
      }
    } else if (type === FIELD.string) {
      flag = bytes.readUInt8(at + 4)
      const fallback = varUint(bytes, at + 5)
      at = fallback.end + (flag & HAS_DEFAULT ? fallback.value : 0)
    } else {
      flag = bytes.readUInt8(at + 1)
      const isShort = type === FIELD.objectId || (type >= FIELD.binary && type <= FIELD.xml)
      at += isShort ? 2 : 3 + (flag & HAS_DEFAULT ? bytes.readUInt8(at + 2) : 0)
    }
    if (at > bytes.length) throw new RangeError('fields that go on after their end')
    fields.push({ name, type, isNullable: (flag & NULLABLE) !== 0, typeAt, end: at, width })
  }
  return fields
}

/** Positions of the values of a row, after its null bits; null for a null value. */
export function valuesIn(row: Buffer, fields: readonly TableField[]): ({ start: number; end: number } | null)[] {
  let at = nullBytes(fields)
  let bit = 0
  return fields.map(({ isNullable, width }) => {
    const isNull = isNullable && ((row.readUInt8(bit >> 3) >> (bit & 7)) & 1) === 1
    if (isNullable) bit++
    if (isNull) return null
    const start = at
    if (width === null) {
      const length = varUint(row, at)
      at = length.end + length.value
    } else at += width
    if (at > row.length) throw new RangeError('a row that is too short')
    return { start, end: at }
  })
}

export function nullBytes(fields: readonly TableField[]): number {
  return Math.ceil(fields.filter(({ isNullable }) => isNullable).length / 8)
}

/**
 * The existing rows, by their numbers from 0; deleted rows are skipped. Their total size is limited to that of the
 * file, because a list of offsets may repeat rows.
 */
export async function* rowsOf(
  table: FileHandle,
  places: FileHandle,
  { version }: Pick<TableHead, 'version'>,
  signal: AbortSignal,
): AsyncGenerator<{ readonly number: number; readonly row: Buffer }> {
  const { size } = await table.stat()
  let left = size
  for await (const { number, place } of placesIn(places, version)) {
    signal.throwIfAborted()
    const length = (await bytesAt(table, place, 4)).readInt32LE()
    if (length < 0 || place + 4 + length > size) throw new RangeError('a row that goes on after the end of its file')
    if (length > MOST_ROW_BYTES) throw new RangeError(`a row of ${length} bytes`)
    left -= 4 + length
    if (left < 0) throw new RangeError('rows that lie over each other')
    yield { number, row: await bytesAt(table, place + 4, length) }
  }
}

async function* placesIn(file: FileHandle, version: number) {
  const head = await bytesAt(file, 0, INDEX_HEAD_BYTES)
  const blocks = version === 3 ? head.readUInt32LE(4) : Number(head.readBigUInt64LE(4))
  const width = head.readUInt32LE(12)
  if (blocks === 0) return
  if (width < 4 || width > 6) throw new RangeError('offsets of an invalid size')
  const blockBytes = width * BLOCK_ROWS
  const isThere = await blockMap(file, INDEX_HEAD_BYTES + blocks * blockBytes, version)
  for (let block = 0, read = 0; read < blocks; block++) {
    if (!isThere(block)) continue
    const bytes = await bytesAt(file, INDEX_HEAD_BYTES + read++ * blockBytes, blockBytes)
    for (let i = 0; i < BLOCK_ROWS; i++) {
      const place = bytes.readUIntLE(i * width, width)
      if (place !== 0) yield { number: block * BLOCK_ROWS + i, place }
    }
  }
}

/** Tests whether the list of offsets has a block; true for all blocks without a map. */
async function blockMap(file: FileHandle, at: number, version: number): Promise<(block: number) => boolean> {
  const tail = await bytesAt(file, at, version === 3 ? 16 : 12)
  let map: Buffer | null = null
  if (version === 3 && tail.readUInt32LE(0) > 0) {
    const length = Math.ceil(tail.readUInt32LE(4) / 8)
    if (length > MOST_MAP_BYTES) throw new RangeError('a map of blocks of an odd length')
    map = await bytesAt(file, at + 16, length)
  } else if (version === 4 && tail.readUInt32LE(8) === WIDE_MAP_SECTION_BYTES) {
    map = await bytesAt(file, at + 12 + WIDE_MAP_AT, WIDE_MAP_BYTES)
  }
  if (map === null) return () => true
  const bits = map
  return (block) => ((bits.readUInt8(block >> 3) >> (block & 7)) & 1) === 1
}

/** A number in groups of seven bits, the lowest first. */
function varUint(bytes: Buffer, start: number): { readonly value: number; readonly end: number } {
  let value = 0
  for (let at = start, unit = 1; at < start + 5; at++, unit *= 128) {
    const byte = bytes.readUInt8(at)
    value += (byte & 0x7f) * unit
    if (byte < 0x80) return { value, end: at + 1 }
  }
  throw new RangeError('a number without an end')
}

async function bytesAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length)
  const { bytesRead } = await file.read(bytes, 0, length, position)
  if (bytesRead < length) throw new RangeError('a file that ends too early')
  return bytes
}

/** The file with the offsets of a table's rows. */
export function placesOf(path: string): string {
  return path.replace(/\.gdbtable$/, '.gdbtablx')
}
