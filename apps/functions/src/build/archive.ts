import { createHash } from 'node:crypto'
import { isInside } from './static-files.ts'
import { archiveInvalid } from '../errors.ts'

/** A function version as bytes: its code and its static files, by path. */
export interface Archive {
  readonly code: Uint8Array
  readonly files: ReadonlyMap<string, Uint8Array>
}

const MAGIC = Buffer.from('TFN1')

/**
 * Packs code and files into one buffer: `TFN1`, the length of an index in four bytes (little-endian), the index as JSON
 * (`[path, size]`, the code first as `index.mjs`, then by path), and the bytes. Equal contents give equal bytes.
 */
export function pack({ code, files }: Archive): Buffer {
  const entries: [string, Uint8Array][] = [['index.mjs', code]]
  for (const path of [...files.keys()].toSorted()) entries.push([path, files.get(path)!])
  const index = Buffer.from(JSON.stringify(entries.map(([path, bytes]) => [path, bytes.length])))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(index.length)
  return Buffer.concat([MAGIC, length, index, ...entries.map(([, bytes]) => bytes)])
}

/** SHA-256 of a packed archive, in hexadecimal. It identifies the content. */
export function digestOf(archive: Archive): string {
  return sha256(pack(archive))
}

/**
 * Unpacks an archive; the buffers share its memory. Paths that leave the folder are refused.
 *
 * @throws FUNCTION_ARCHIVE_INVALID
 */
export function unpack(archive: Buffer): Archive {
  if (archive.length < 8 || !archive.subarray(0, 4).equals(MAGIC))
    throw archiveInvalid({ reason: 'it does not begin with TFN1' })
  const indexEnd = 8 + archive.readUInt32LE(4)
  const files = new Map<string, Uint8Array>()
  let code: Uint8Array | null = null
  let at = indexEnd
  for (const entry of readIndex(archive.subarray(8, indexEnd))) {
    const [path, size] = entry
    const bytes = archive.subarray(at, at + size)
    if (bytes.length !== size) throw archiveInvalid({ reason: 'it is cut short' })
    at += size
    if (path === 'index.mjs' && code === null) code = bytes
    else if (isInside(path)) files.set(path, bytes)
    else throw archiveInvalid({ reason: `'${path}' leads out of the folder` })
  }
  if (!code || at !== archive.length) throw archiveInvalid({ reason: 'it has no code, or bytes too many' })
  return { code, files }
}

/** SHA-256 in hex. */
export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function readIndex(bytes: Buffer): [string, number][] {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch {
    throw archiveInvalid({ reason: 'its index is not JSON' })
  }
  if (!Array.isArray(value) || !value.every(isEntry)) throw archiveInvalid({ reason: 'its index is malformed' })
  return value
}

function isEntry(entry: unknown): entry is [string, number] {
  return Array.isArray(entry) && typeof entry[0] === 'string' && Number.isSafeInteger(entry[1]) && entry[1] >= 0
}
