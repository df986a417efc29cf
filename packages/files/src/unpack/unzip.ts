import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { openPromise, type Entry, type ZipFile } from 'yauzl'
import { zipRefused } from '../errors.ts'
import { CheckedBytes } from './checked-bytes.ts'
import { Growth } from './growth.ts'
import { checkPath, planTargets } from './unpacked-names.ts'

const SYMLINK = 0xa000
const FILE_TYPE = 0xf000
const STORED = 0
const DEFLATED = 8

/** Limits of an archive. */
export interface ArchiveLimits {
  readonly maxEntries: number
  readonly maxBytes: number
}

/** A zip archive, Zip64 or not, whose directory has been checked. */
export interface CheckedZip extends Disposable {
  readonly paths: readonly string[]
  /** Unpacks the files into a folder; declared sizes are checked again while they are written. */
  unpack(folder: string, signal: AbortSignal): Promise<void>
}

/**
 * Opens a zip archive and checks all of its directory before anything is written.
 *
 * @throws ZIP_REFUSED
 */
export async function openZip(path: string, limits: ArchiveLimits): Promise<CheckedZip> {
  const file = await refusing(openPromise(path, { autoClose: false, strictFileNames: true, lazyEntries: true }))
  try {
    const entries = await listEntries(file, limits)
    return {
      paths: entries.map(({ fileName }) => fileName),
      unpack: (folder, signal) => unpack(file, entries, folder, signal),
      [Symbol.dispose]: () => file.close(),
    }
  } catch (error) {
    file.close()
    throw error
  }
}

async function listEntries(file: ZipFile, limits: ArchiveLimits): Promise<Entry[]> {
  if (file.entryCount > limits.maxEntries) {
    throw zipRefused({ reason: `it holds ${file.entryCount} entries, more than ${limits.maxEntries}` })
  }
  const entries: Entry[] = []
  let total = 0
  let packed = 0
  const list = file.eachEntry()
  for (;;) {
    const { value: entry, done } = await refusing(list.next())
    if (done === true) break
    checkPath(entry.fileName)
    if (((entry.externalFileAttributes >>> 16) & FILE_TYPE) === SYMLINK) {
      throw zipRefused({ reason: `${entry.fileName} is a link` })
    }
    if (entry.fileName.endsWith('/')) continue
    checkEntry(entry)
    packed += entry.compressedSize
    total += entry.uncompressedSize
    if (total > limits.maxBytes) throw zipRefused({ reason: `it holds more than ${limits.maxBytes} bytes` })
    entries.push(entry)
  }
  new Growth(packed).add(total)
  checkOverlaps(entries)
  return entries
}

function checkEntry(entry: Entry): void {
  const { fileName, compressionMethod: method } = entry
  if (entry.isEncrypted()) throw zipRefused({ reason: `${fileName} is encrypted` })
  if (method !== STORED && method !== DEFLATED) {
    throw zipRefused({ reason: `${fileName} is compressed by method ${method}` })
  }
}

/** Refuses entries that share compressed bytes, as in zip bombs. */
function checkOverlaps(entries: readonly Entry[]): void {
  let end = 0
  const inOrder = entries.toSorted((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader)
  for (const { relativeOffsetOfLocalHeader: offset, compressedSize } of inOrder) {
    if (offset < end) throw zipRefused({ reason: 'its entries overlap' })
    end = offset + 30 + compressedSize
  }
}

async function unpack(file: ZipFile, entries: readonly Entry[], folder: string, signal: AbortSignal): Promise<void> {
  const targets = planTargets(entries.map(({ fileName }) => fileName))
  for (const entry of entries) {
    const target = targets.get(entry.fileName)
    if (target === undefined) continue
    const source = await refusing(file.openReadStreamPromise(entry))
    const checked = new CheckedBytes(entry.fileName, entry.uncompressedSize, entry.crc32)
    const out = createWriteStream(join(folder, target), { flags: 'wx' })
    await refusing(pipeline(source, checked, out, { signal }))
  }
}

/** The library reports damage as plain errors; errors of the file system have codes of their own. */
async function refusing<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (cause) {
    const { code = '', message } = cause as NodeJS.ErrnoException
    if (code !== '' && !code.startsWith('Z_')) throw cause
    if ((cause as Error).name === 'AbortError') throw cause
    throw zipRefused({ reason: `it is damaged (${message.slice(0, 120)})` }, { cause })
  }
}
