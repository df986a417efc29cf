import { createReadStream, createWriteStream } from 'node:fs'
import { open, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { crc32, createInflateRaw } from 'node:zlib'
import { zipRefused } from './errors.ts'

const END_SIGNATURE = 0x06054b50
const CENTRAL_SIGNATURE = 0x02014b50
const LOCAL_SIGNATURE = 0x04034b50
const END_LENGTH = 22
const LONGEST_COMMENT = 0xffff
const SYMLINK = 0xa000
const FILE_TYPE = 0xf000
const IN_ZIP64 = 0xffffffff
const READ_BYTES = 1 << 18
const LONGEST_NAME = 200
/** Room for the names and extra fields of an entry; few take a tenth of it. */
const ENTRY_BYTES = 4096

/** What an archive may hold. Data compress well below this ratio; bombs do not. */
export interface ZipLimits {
  readonly maxEntries: number
  readonly maxBytes: number
  readonly maxRatio: number
}

interface Entry {
  readonly name: string
  readonly method: number
  readonly crc: number
  readonly compressed: number
  readonly size: number
  readonly offset: number
}

/**
 * Unpacks a zip archive into a folder, without its folders: returns the names of the files. Everything is checked before
 * anything is written, and what entries claim is checked again while they are.
 *
 * @throws ZIP_REFUSED
 */
export async function unzip(path: string, folder: string, limits: ZipLimits, signal: AbortSignal): Promise<string[]> {
  await using file = await open(path)
  const entries = await readEntries(file, limits)
  const names = new Set<string>()
  for (const entry of entries) {
    const name = entry.name.split('/').at(-1)!
    // What macOS adds is nobody's data.
    if (entry.name.startsWith('__MACOSX/') || name.startsWith('.')) continue
    if (names.has(name.toLowerCase())) throw zipRefused({ reason: `it holds two files of the name ${name}` })
    names.add(name.toLowerCase())
    await extract(file, path, entry, join(folder, name.toLowerCase()), signal)
  }
  if (names.size === 0) throw zipRefused({ reason: 'it holds no files' })
  return [...names]
}

/**
 * The paths in a zip archive, checked as {@link unzip} does.
 *
 * @throws ZIP_REFUSED
 */
export async function zipPaths(path: string, limits: ZipLimits): Promise<string[]> {
  await using file = await open(path)
  return (await readEntries(file, limits)).map(({ name }) => name)
}

/** The files of the central directory, all of them checked. */
async function readEntries(file: FileHandle, limits: ZipLimits): Promise<Entry[]> {
  const { size } = await file.stat()
  const { count, start, length } = await findDirectory(file, size)
  if (count > limits.maxEntries)
    throw zipRefused({ reason: `it holds ${count} entries, more than ${limits.maxEntries}` })
  if (length > (count + 1) * ENTRY_BYTES) throw zipRefused({ reason: 'its directory is larger than its entries need' })
  const bytes = await readAt(file, start, length)
  const entries: Entry[] = []
  let total = 0
  let at = 0
  for (let i = 0; i < count; i++) {
    if (at + 46 > bytes.length || bytes.readUInt32LE(at) !== CENTRAL_SIGNATURE)
      throw zipRefused({ reason: 'it is damaged' })
    const nameLength = bytes.readUInt16LE(at + 28)
    const next = at + 46 + nameLength + bytes.readUInt16LE(at + 30) + bytes.readUInt16LE(at + 32)
    const entry = {
      name: bytes.toString('utf8', at + 46, at + 46 + nameLength),
      method: bytes.readUInt16LE(at + 10),
      crc: bytes.readUInt32LE(at + 16),
      compressed: bytes.readUInt32LE(at + 20),
      size: bytes.readUInt32LE(at + 24),
      offset: bytes.readUInt32LE(at + 42),
    }
    const flags = bytes.readUInt16LE(at + 8)
    const mode = bytes.readUInt32LE(at + 38) >>> 16
    at = next
    checkName(entry.name)
    if ((mode & FILE_TYPE) === SYMLINK) throw zipRefused({ reason: `${entry.name} is a link` })
    if (entry.name.endsWith('/')) continue
    checkEntry(entry, flags, limits)
    total += entry.size
    if (total > limits.maxBytes) throw zipRefused({ reason: `it holds more than ${limits.maxBytes} bytes` })
    entries.push(entry)
  }
  checkOverlaps(entries)
  return entries
}

async function findDirectory(
  file: FileHandle,
  size: number,
): Promise<{ count: number; start: number; length: number }> {
  const tail = await readAt(
    file,
    Math.max(0, size - END_LENGTH - LONGEST_COMMENT),
    Math.min(size, END_LENGTH + LONGEST_COMMENT),
  )
  for (let at = tail.length - END_LENGTH; at >= 0; at--) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE) continue
    const count = tail.readUInt16LE(at + 10)
    const length = tail.readUInt32LE(at + 12)
    const start = tail.readUInt32LE(at + 16)
    if (count === 0xffff || start === IN_ZIP64) throw zipRefused({ reason: 'it uses zip64' })
    if (start + length > size) throw zipRefused({ reason: 'it is cut off' })
    return { count, start, length }
  }
  throw zipRefused({ reason: 'it has no directory; it may be cut off' })
}

function checkName(name: string): void {
  const parts = name.split('/')
  // oxlint-disable-next-line no-control-regex -- Control characters are what is looked for.
  const isOdd = name === '' || name.startsWith('/') || /[\\:\u0000-\u001f]/.test(name)
  if (isOdd || parts.includes('..') || Buffer.byteLength(parts.at(-1)!.toLowerCase()) > LONGEST_NAME) {
    throw zipRefused({ reason: `it holds the path ${JSON.stringify(name.slice(0, 80))}` })
  }
}

function checkEntry(entry: Entry, flags: number, limits: ZipLimits): void {
  const { name, method, compressed, size } = entry
  if (flags & 1) throw zipRefused({ reason: `${name} is encrypted` })
  if (method !== 0 && method !== 8) throw zipRefused({ reason: `${name} is compressed by method ${method}` })
  if (compressed === IN_ZIP64 || size === IN_ZIP64) throw zipRefused({ reason: 'it uses zip64' })
  if (method === 0 && compressed !== size) throw zipRefused({ reason: `${name} is damaged` })
  if (size > Math.max(1 << 16, compressed * limits.maxRatio)) {
    throw zipRefused({ reason: `${name} would grow to more than ${limits.maxRatio} times its size` })
  }
  if (size > limits.maxBytes) throw zipRefused({ reason: `it holds more than ${limits.maxBytes} bytes` })
}

/** Bombs let many entries share the same compressed bytes. */
function checkOverlaps(entries: readonly Entry[]): void {
  let end = 0
  for (const { offset, compressed } of entries.toSorted((a, b) => a.offset - b.offset)) {
    if (offset < end) throw zipRefused({ reason: 'its entries overlap' })
    end = offset + 30 + compressed
  }
}

async function extract(
  file: FileHandle,
  path: string,
  entry: Entry,
  target: string,
  signal: AbortSignal,
): Promise<void> {
  const local = await readAt(file, entry.offset, 30)
  if (local.length < 30 || local.readUInt32LE(0) !== LOCAL_SIGNATURE) throw zipRefused({ reason: 'it is damaged' })
  const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28)
  const source =
    entry.compressed === 0
      ? Readable.from([])
      : createReadStream(path, { start, end: start + entry.compressed - 1, highWaterMark: READ_BYTES })
  const checked = new CheckedBytes(entry)
  const out = createWriteStream(target, { flags: 'wx' })
  try {
    if (entry.method === 8)
      await pipeline(source, createInflateRaw({ chunkSize: READ_BYTES }), checked, out, { signal })
    else await pipeline(source, checked, out, { signal })
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? ''
    if (code.startsWith('Z_')) throw zipRefused({ reason: `${entry.name} is damaged` }, { cause })
    throw cause
  }
  checked.finish()
}

/** Lets as many bytes through as the directory promises, and compares their checksum. */
class CheckedBytes extends Transform {
  readonly #entry: Entry
  #size = 0
  #crc = 0

  constructor(entry: Entry) {
    super()
    this.#entry = entry
  }

  override _transform(chunk: Buffer, _: BufferEncoding, done: (error: Error | null, chunk?: Buffer) => void): void {
    this.#size += chunk.length
    this.#crc = crc32(chunk, this.#crc)
    if (this.#size > this.#entry.size) done(zipRefused({ reason: `${this.#entry.name} is larger than it claims` }))
    else done(null, chunk)
  }

  finish(): void {
    const { name, size, crc } = this.#entry
    if (this.#size !== size || this.#crc !== crc) throw zipRefused({ reason: `${name} is damaged` })
  }
}

async function readAt(file: FileHandle, position: number, length: number): Promise<Buffer> {
  const bytes = Buffer.alloc(length)
  const { bytesRead } = await file.read(bytes, 0, length, position)
  return bytes.subarray(0, bytesRead)
}
