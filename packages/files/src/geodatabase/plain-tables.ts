import { open, readdir, rename, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { FieldType } from '../feature-stream.ts'
import type { TypesOfLayers } from '../read/protocol.ts'
import {
  BLOCK_ROWS,
  FIELD,
  nullBytes,
  placesOf,
  readHead,
  rowsOf,
  valuesIn,
  type TableField,
  type TableHead,
} from './table-file.ts'

/** The table of a geodatabase that lists all others: row 1 describes the first table. */
const CATALOG = 'a00000001.gdbtable'
const NAME_FIELD = 'Name'
const OLD_VERSION = 3
const PLACE_BYTES = 5
const WRITE_BYTES = 1 << 20
const HEAD_BYTES = 40
const DAY_MS = 86_400_000
/** Days from 1899-12-30, from which the format counts, to 1970. */
const EPOCH_DAYS = 25_569

/** Field types of ArcGIS Pro 3.2, and their types in the database. */
const NEW_TYPES: Readonly<Record<number, FieldType>> = {
  [FIELD.int64]: 'int8',
  [FIELD.date]: 'date',
  [FIELD.time]: 'time',
  [FIELD.stampWithOffset]: 'timestamptz',
}

/** Facts about a table, read without the engine. */
export interface PlainTable {
  readonly name: string
  /** Null where the table is damaged. */
  readonly rows: number | null
  /** Types of the fields that are texts now. */
  readonly types: Readonly<Record<string, FieldType>>
}

/**
 * Rewrites tables of a geodatabase that have types which only GDAL 3.9 reads: object ids of 64 bits, large whole
 * numbers, dates, times of day and times with an offset. Their values become texts, in fields of the type for XML.
 *
 * @returns the tables that the geodatabase lists; empty for a damaged one, which the engine reports
 */
export async function plainTables(folder: string, signal: AbortSignal): Promise<readonly PlainTable[]> {
  const files = new Set(await readdir(folder))
  const tables: PlainTable[] = []
  for (const { number, name } of await listTables(join(folder, CATALOG), signal).catch(damaged([]))) {
    const file = `a${number.toString(16).padStart(8, '0')}.gdbtable`
    if (name.startsWith('GDB_') || !files.has(file)) continue
    const path = join(folder, file)
    tables.push(await plainTable(path, name, signal).catch(damaged({ name, rows: null, types: {} })))
  }
  return tables
}

export function typesOf(tables: readonly PlainTable[]): TypesOfLayers {
  return Object.fromEntries(tables.map(({ name, types }) => [name, types]))
}

/**
 * Returns `instead` for a damaged or missing file, which the engine reports; rethrows other errors, such as a full
 * disk.
 */
function damaged<T>(instead: T): (error: unknown) => T {
  return (error) => {
    if (error instanceof RangeError || (error as NodeJS.ErrnoException).code === 'ENOENT') return instead
    throw error
  }
}

async function listTables(catalog: string, signal: AbortSignal): Promise<{ number: number; name: string }[]> {
  await using table = await open(catalog)
  await using places = await open(placesOf(catalog))
  const head = await readHead(table)
  const at = head.fields.findIndex(({ name }) => name === NAME_FIELD)
  const isUtf8 = (head.description.readUInt8(9) & 1) === 1
  const found: { number: number; name: string }[] = []
  for await (const { number, row } of rowsOf(table, places, head, signal)) {
    const place = valuesIn(row, head.fields)[at]
    if (!place) continue
    const text = row.subarray(place.start, place.end)
    // Names are short: their length takes one byte or two.
    const start = text.readUInt8() < 0x80 ? 1 : 2
    found.push({ number: number + 1, name: text.toString(isUtf8 ? 'utf8' : 'utf16le', start) })
  }
  return found
}

async function plainTable(path: string, name: string, signal: AbortSignal): Promise<PlainTable> {
  const fresh = `${path}.new`
  let head: TableHead
  {
    await using table = await open(path)
    head = await readHead(table)
    const isPlain = head.version === OLD_VERSION && head.fields.every(({ type }) => NEW_TYPES[type] === undefined)
    if (isPlain || head.rows === 0) return { name, rows: head.rows, types: {} }
    await using places = await open(placesOf(path))
    await using plain = await open(fresh, 'w')
    await using plainPlaces = await open(`${fresh}x`, 'w')
    await rewrite(head, rowsOf(table, places, head, signal), plain, plainPlaces)
  }
  await rename(fresh, path)
  await rename(`${fresh}x`, placesOf(path))
  await removeIndexes(path)
  const types = head.fields.flatMap((field) => {
    const type = NEW_TYPES[field.type]
    return type ? [[field.name, type] as const] : []
  })
  return { name, rows: head.rows, types: Object.fromEntries(types) }
}

/** Indexes refer to row numbers, which have changed. */
async function removeIndexes(path: string): Promise<void> {
  const folder = join(path, '..')
  const stem = path.slice(folder.length + 1, -'gdbtable'.length)
  for (const name of await readdir(folder)) {
    if (name.startsWith(stem) && /\.(gdbindexes|atx|spx)$/.test(name)) await rm(join(folder, name))
  }
}

async function rewrite(
  { fields, description }: TableHead,
  rows: AsyncIterable<{ readonly row: Buffer }>,
  table: FileHandle,
  places: FileHandle,
): Promise<void> {
  const described = plainDescription(description, fields)
  const out = new Appender(table, HEAD_BYTES + described.length)
  const starts = new Appender(places, 16)
  let [count, longest] = [0, 0]
  for await (const { row } of rows) {
    const plain = plainRow(row, fields)
    const place = Buffer.alloc(PLACE_BYTES)
    place.writeUIntLE(out.position, 0, PLACE_BYTES)
    await starts.add(place)
    const length = Buffer.alloc(4)
    length.writeUInt32LE(plain.length)
    await out.add(length)
    await out.add(plain)
    count++
    longest = Math.max(longest, plain.length)
  }
  await out.flush()
  const blocks = Math.ceil(count / BLOCK_ROWS)
  await starts.add(Buffer.alloc((blocks * BLOCK_ROWS - count) * PLACE_BYTES))
  const tail = Buffer.alloc(16)
  tail.writeUInt32LE(blocks, 4)
  tail.writeUInt32LE(blocks, 8)
  await starts.add(tail)
  await starts.flush()
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeInt32LE(OLD_VERSION, 0)
  head.writeInt32LE(count, 4)
  head.writeInt32LE(longest, 8)
  head.writeInt32LE(5, 12)
  head.writeBigInt64LE(BigInt(out.position), 24)
  head.writeBigInt64LE(BigInt(HEAD_BYTES), 32)
  await table.write(Buffer.concat([head, described]), 0, HEAD_BYTES + described.length, 0)
  const placesHead = Buffer.alloc(16)
  for (const [i, value] of [OLD_VERSION, blocks, count, PLACE_BYTES].entries()) placesHead.writeUInt32LE(value, 4 * i)
  await places.write(placesHead, 0, 16, 0)
}

/** The description of the fields with the new types as XML, which has a width, a flag and no default. */
function plainDescription(description: Buffer, fields: readonly TableField[]): Buffer {
  const parts: Buffer[] = []
  let from = 0
  for (const { type, typeAt, end, isNullable } of fields) {
    if (NEW_TYPES[type] === undefined) continue
    parts.push(description.subarray(from, typeAt), Buffer.from([FIELD.xml, 0, isNullable ? 1 : 0]))
    from = end
  }
  parts.push(description.subarray(from))
  const whole = Buffer.concat(parts)
  whole.writeUInt32LE(whole.length - 4, 0)
  return whole
}

function plainRow(row: Buffer, fields: readonly TableField[]): Buffer {
  const parts = [row.subarray(0, nullBytes(fields))]
  for (const [i, place] of valuesIn(row, fields).entries()) {
    if (place === null) continue
    const value = row.subarray(place.start, place.end)
    const { type } = fields[i]!
    if (NEW_TYPES[type] === undefined) parts.push(value)
    else {
      const text = Buffer.from(textOf(value, type), 'latin1')
      parts.push(Buffer.from([text.length]), text)
    }
  }
  return Buffer.concat(parts)
}

/** Times have milliseconds, the precision of the format's fractions of a day. */
function textOf(value: Buffer, type: number): string {
  if (type === FIELD.int64) return value.readBigInt64LE().toString()
  const days = value.readDoubleLE()
  const ms = Math.round(days * DAY_MS)
  if (type === FIELD.time) return ms === DAY_MS ? '24:00:00' : isoOf(ms).slice(11, 23)
  const instant = isoOf(ms - EPOCH_DAYS * DAY_MS)
  if (type === FIELD.date) return instant.slice(0, instant.indexOf('T'))
  const minutes = value.readInt16LE(8)
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `${instant.slice(0, -1)}${minutes < 0 ? '-' : '+'}${digits(hours)}:${digits(rest)}`
}

function digits(number: number): string {
  return String(number).padStart(2, '0')
}

function isoOf(ms: number): string {
  // An invalid date becomes a text that its column refuses.
  return Number.isFinite(ms) && Math.abs(ms) <= 8.64e15 ? new Date(ms).toISOString() : '-T'
}

/** Appends pieces to a file, many per write. */
class Appender {
  position: number
  readonly #file: FileHandle
  #pending: Buffer[] = []
  #bytes = 0

  constructor(file: FileHandle, position: number) {
    this.#file = file
    this.position = position
  }

  async add(bytes: Buffer): Promise<void> {
    this.#pending.push(bytes)
    this.#bytes += bytes.length
    this.position += bytes.length
    if (this.#bytes >= WRITE_BYTES) await this.flush()
  }

  async flush(): Promise<void> {
    const bytes = Buffer.concat(this.#pending)
    this.#pending = []
    this.#bytes = 0
    await this.#file.write(bytes, 0, bytes.length, this.position - bytes.length)
  }
}
