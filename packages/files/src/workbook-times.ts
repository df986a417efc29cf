import { open, type FileHandle } from 'node:fs/promises'
import { crc32, inflateRawSync } from 'node:zlib'

const STYLES = 'xl/styles.xml'
const MOST_BYTES = 16 << 20
const END_BYTES = 22
const LONGEST_COMMENT = 0xffff
const END_MARK = 0x06054b50
const ENTRY_MARK = 0x02014b50
const ENTRY_BYTES = 46
const LOCAL_MARK = 0x04034b50
const LOCAL_BYTES = 30
const DEFLATED = 8
/** Flag bit: sizes come after the data. */
const SIZES_BEHIND = 0x0008
const OF_ZIP64 = 0xffffffff
const FORMAT = /( formatCode=)("[^"]*"|'[^']*')/g

/** Position of an entry in an archive. */
interface Place {
  /** Offset of its line within the directory. */
  readonly line: number
  readonly method: number
  readonly packed: number
  readonly offset: number
}

/**
 * Rewrites the time formats of an XLSX for the engine, which expects two letters for the hour and reads `yyyy-mm-dd
 * h:mm:ss` as a date. The archive gets a new entry for its styles; the old one stays, unused.
 */
export async function spellOutTimes(path: string): Promise<void> {
  await using file = await open(path, 'r+')
  const { size } = await file.stat()
  const tail = await bytesAt(file, Math.max(0, size - END_BYTES - LONGEST_COMMENT), size)
  const end = lastMark(tail)
  if (end < 0) return
  const [directoryBytes, start] = [tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16)]
  if (start === OF_ZIP64 || directoryBytes > MOST_BYTES || start + directoryBytes > size) return
  const directory = await bytesAt(file, start, start + directoryBytes)
  const place = placeOf(directory)
  if (place === null || place.packed > MOST_BYTES) return
  const styles = await contentOf(file, place)
  const text = styles?.toString('utf8') ?? ''
  const spelled = text.replaceAll(FORMAT, (whole, head: string, quoted: string) => {
    const code = quoted.slice(1, -1)
    const plain = plainFormat(code)
    return plain === code ? whole : `${head}"${plain}"`
  })
  if (spelled === text) return
  const entry = localEntry(Buffer.from(spelled))
  replaceLine(directory, place.line, entry.content, start)
  tail.writeUInt32LE(start + entry.bytes.length, end + 16)
  const rest = Buffer.concat([entry.bytes, directory, tail.subarray(end)])
  await file.write(rest, 0, rest.length, start)
  await file.truncate(start + rest.length)
}

/** A format of days and times in the engine's spelling; any other unchanged. */
function plainFormat(code: string): string {
  const [positive = ''] = code.replaceAll('&quot;', '"').split(';', 1)
  const letters = positive.replaceAll(/"[^"]{0,99}"|\\.|_.|\*.|\[[^\][]{0,99}\]/g, '').replaceAll(/am\/pm|a\/p/gi, '')
  const isElapsed = /\[[hms]+\]/i.test(positive)
  if (isElapsed || /[#?]|general|e[+-]/i.test(letters)) return code
  const [hasDay, hasTime] = [/[yd]|mmm/i.test(letters), /[hs]/i.test(letters)]
  if (!hasTime) return code
  const fraction = /s[.,]0+/i.test(letters) ? '.000' : ''
  return hasDay ? `yyyy-mm-dd hh:mm:ss${fraction}` : `hh:mm:ss${fraction}`
}

async function bytesAt(file: FileHandle, start: number, end: number): Promise<Buffer> {
  const bytes = Buffer.alloc(end - start)
  const { bytesRead } = await file.read(bytes, 0, bytes.length, start)
  return bytes.subarray(0, bytesRead)
}

function lastMark(tail: Buffer): number {
  for (let at = tail.length - END_BYTES; at >= 0; at--) if (tail.readUInt32LE(at) === END_MARK) return at
  return -1
}

function placeOf(directory: Buffer): Place | null {
  for (let at = 0; at + ENTRY_BYTES <= directory.length && directory.readUInt32LE(at) === ENTRY_MARK;) {
    const [name, extra, comment] = [28, 30, 32].map((field) => directory.readUInt16LE(at + field)) as [
      number,
      number,
      number,
    ]
    if (directory.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + name) === STYLES) {
      const [packed, offset] = [directory.readUInt32LE(at + 20), directory.readUInt32LE(at + 42)]
      return { line: at, method: directory.readUInt16LE(at + 10), packed, offset }
    }
    at += ENTRY_BYTES + name + extra + comment
  }
  return null
}

async function contentOf(file: FileHandle, { method, packed, offset }: Place): Promise<Buffer | null> {
  const head = await bytesAt(file, offset, offset + LOCAL_BYTES)
  if (head.length < LOCAL_BYTES || head.readUInt32LE(0) !== LOCAL_MARK) return null
  const start = offset + LOCAL_BYTES + head.readUInt16LE(26) + head.readUInt16LE(28)
  const bytes = await bytesAt(file, start, start + packed)
  if (method !== DEFLATED) return bytes
  try {
    return inflateRawSync(bytes, { maxOutputLength: MOST_BYTES })
  } catch {
    // The engine reports the error.
    return null
  }
}

/** An entry that is not compressed. */
function localEntry(content: Buffer): { readonly bytes: Buffer; readonly content: Buffer } {
  const name = Buffer.from(STYLES)
  const head = Buffer.alloc(LOCAL_BYTES)
  head.writeUInt32LE(LOCAL_MARK, 0)
  head.writeUInt16LE(20, 4)
  head.writeUInt32LE(crc32(content), 14)
  head.writeUInt32LE(content.length, 18)
  head.writeUInt32LE(content.length, 22)
  head.writeUInt16LE(name.length, 26)
  return { bytes: Buffer.concat([head, name, content]), content }
}

function replaceLine(directory: Buffer, line: number, content: Buffer, offset: number): void {
  directory.writeUInt16LE(directory.readUInt16LE(line + 8) & ~SIZES_BEHIND, line + 8)
  directory.writeUInt16LE(0, line + 10)
  directory.writeUInt32LE(crc32(content), line + 16)
  directory.writeUInt32LE(content.length, line + 20)
  directory.writeUInt32LE(content.length, line + 24)
  directory.writeUInt32LE(offset, line + 42)
}
