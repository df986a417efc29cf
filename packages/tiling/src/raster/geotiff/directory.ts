import { malformedGeoTiff, notGeoTiff, truncatedGeoTiff } from '../errors.ts'
import type { ByteSource } from '../source.ts'
import { TAG } from './tags.ts'

/** Maximum number of images, above any pyramid with masks; a longer chain is damaged or hostile. */
const MAX_DIRECTORIES = 1024
/** libtiff's limit. Directories may overlap, so a small file could claim many large ones. */
const MAX_ENTRIES = 4096
/** Maximum bytes of a header value; longer texts and tables are no headers. */
const MAX_BYTES = 1 << 20

/** Bytes per value of each TIFF field type, by its code. */
const TYPE_BYTES: readonly number[] = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8]

const KNOWN_TAGS: ReadonlySet<number> = new Set(Object.values(TAG))
/** Byte, short, long, their signed variants, their 8-byte variants, and directory offsets. */
const INTEGER_TYPES: ReadonlySet<number> = new Set([1, 3, 4, 6, 8, 9, 13, 16, 17, 18])
const REAL_TYPES: ReadonlySet<number> = new Set([11, 12])

/** One image file directory. Values are read on access, so unused tags cost nothing. */
export interface Directory {
  has(tag: number): boolean
  /** Number of values of the tag; 0 when it is absent. */
  count(tag: number): number
  /** The first `limit` whole numbers of a tag, empty when it is absent. @throws GEOTIFF_MALFORMED for another type */
  integers(tag: number, limit: number): Float64Array
  /** The single whole number of a tag. @throws GEOTIFF_MALFORMED when it has several values or another type */
  integer(tag: number, otherwise: number): number
  /** The first `limit` floating point numbers of a tag, empty when it is absent or of another type. */
  reals(tag: number, limit: number): Float64Array
  /** A tag's bytes, at most 1 MiB of them; null when it is absent. */
  bytes(tag: number): Uint8Array | null
  /** A tag's text without its terminator; null when it is absent. */
  text(tag: number): string | null
}

/** The header of a TIFF and all its directories, in file order. */
export interface TiffHeader {
  readonly littleEndian: boolean
  readonly directories: readonly Directory[]
}

/**
 * Reads classic TIFF and BigTIFF, either byte order. Every position is checked against the source, and no allocation
 * depends on a declared count alone, so damaged or hostile headers throw an error.
 *
 * Source: TIFF 6.0 section 2; the BigTIFF extension by Aware Systems.
 *
 * @throws NOT_A_GEOTIFF, GEOTIFF_MALFORMED, GEOTIFF_TRUNCATED
 */
export function readHeader(source: ByteSource): TiffHeader {
  const head = source.read(0, 16)
  const order = head.length < 8 ? '' : String.fromCharCode(head[0] ?? 0, head[1] ?? 0)
  const littleEndian = order === 'II'
  const view = viewOf(head)
  const magic = littleEndian || order === 'MM' ? view.getUint16(2, littleEndian) : 0
  if (magic !== 42 && magic !== 43) throw notGeoTiff({ found: describe(head) })
  const big = magic === 43
  if (big && (head.length < 16 || view.getUint16(4, littleEndian) !== 8)) {
    throw malformedGeoTiff({ what: 'its BigTIFF offsets do not have 8 bytes' })
  }
  const reader: FieldReader = { source, littleEndian, big }
  const directories: Directory[] = []
  const seen = new Set<number>()
  for (let offset = big ? readUint64(view, 8, littleEndian) : view.getUint32(4, littleEndian); offset !== 0;) {
    if (seen.has(offset)) throw malformedGeoTiff({ what: `its directories form a loop at byte ${offset}` })
    if (seen.size === MAX_DIRECTORIES) throw malformedGeoTiff({ what: `it has more than ${MAX_DIRECTORIES} images` })
    seen.add(offset)
    const { directory, next } = readDirectory(reader, offset)
    directories.push(directory)
    offset = next
  }
  if (directories.length === 0) throw malformedGeoTiff({ what: 'it holds no image' })
  return { littleEndian, directories }
}

interface FieldReader {
  readonly source: ByteSource
  readonly littleEndian: boolean
  readonly big: boolean
}

interface Field {
  readonly type: number
  readonly count: number
  /** Offset of the values in the source. */
  readonly position: number
}

function readDirectory(reader: FieldReader, offset: number): { directory: Directory; next: number } {
  const { littleEndian, big } = reader
  const countBytes = big ? 8 : 2
  const entryBytes = big ? 20 : 12
  const linkBytes = big ? 8 : 4
  const head = viewOf(readExactly(reader.source, offset, countBytes))
  const entries = big ? readUint64(head, 0, littleEndian) : head.getUint16(0, littleEndian)
  if (entries > MAX_ENTRIES) throw malformedGeoTiff({ what: `a directory declares ${entries} entries` })
  const view = viewOf(readExactly(reader.source, offset + countBytes, entries * entryBytes + linkBytes))
  const fields = new Map<number, Field>()
  for (let i = 0; i < entries; i++) {
    const at = i * entryBytes
    const type = view.getUint16(at + 2, littleEndian)
    const count = big ? readUint64(view, at + 4, littleEndian) : view.getUint32(at + 4, littleEndian)
    const valueAt = at + (big ? 12 : 8)
    const inline = (TYPE_BYTES[type] ?? 0) * count <= linkBytes
    const pointer = big ? readUint64(view, valueAt, littleEndian) : view.getUint32(valueAt, littleEndian)
    const position = inline ? offset + countBytes + valueAt : pointer
    const tag = view.getUint16(at, littleEndian)
    // The first of repeated tags counts, as in libtiff.
    if (KNOWN_TAGS.has(tag) && !fields.has(tag)) fields.set(tag, { type, count, position })
  }
  const link = entries * entryBytes
  const next = big ? readUint64(view, link, littleEndian) : view.getUint32(link, littleEndian)
  return { directory: directoryOf(reader, fields), next }
}

function directoryOf(reader: FieldReader, fields: ReadonlyMap<number, Field>): Directory {
  const integers = (tag: number, limit: number): Float64Array => {
    const field = fields.get(tag)
    if (field !== undefined && !INTEGER_TYPES.has(field.type)) {
      throw malformedGeoTiff({ what: `tag ${tag} has the field type ${field.type}, which holds no whole numbers` })
    }
    return readNumbers(reader, field, limit)
  }
  const bytes = (tag: number): Uint8Array | null => {
    const field = fields.get(tag)
    if (field === undefined) return null
    const length = field.count * (TYPE_BYTES[field.type] ?? 0)
    if (length > MAX_BYTES) throw malformedGeoTiff({ what: `tag ${tag} holds ${length} bytes` })
    return readExactly(reader.source, field.position, length)
  }
  return {
    has: (tag) => fields.has(tag),
    count: (tag) => fields.get(tag)?.count ?? 0,
    integers,
    integer: (tag, otherwise) => {
      const { count } = fields.get(tag) ?? { count: 1 }
      if (count !== 1) throw malformedGeoTiff({ what: `tag ${tag} has ${count} values instead of one` })
      return integers(tag, 1)[0] ?? otherwise
    },
    reals: (tag, limit) => {
      const field = fields.get(tag)
      return readNumbers(reader, field !== undefined && REAL_TYPES.has(field.type) ? field : undefined, limit)
    },
    bytes,
    text: (tag) => {
      const raw = bytes(tag)
      return raw === null ? null : new TextDecoder().decode(raw).replace(/\0[^]*$/, '')
    },
  }
}

function readNumbers(reader: FieldReader, field: Field | undefined, limit: number): Float64Array {
  if (field === undefined) return new Float64Array(0)
  const width = TYPE_BYTES[field.type] as number
  const count = Math.min(field.count, limit)
  const view = viewOf(readExactly(reader.source, field.position, count * width))
  const values = new Float64Array(count)
  for (let i = 0; i < count; i++) values[i] = readNumber(view, i * width, field.type, reader.littleEndian)
  return values
}

function readNumber(view: DataView, at: number, type: number, littleEndian: boolean): number {
  switch (type) {
    case 3:
      return view.getUint16(at, littleEndian)
    case 4:
    case 13:
      return view.getUint32(at, littleEndian)
    case 6:
      return view.getInt8(at)
    case 8:
      return view.getInt16(at, littleEndian)
    case 9:
      return view.getInt32(at, littleEndian)
    case 11:
      return view.getFloat32(at, littleEndian)
    case 12:
      return view.getFloat64(at, littleEndian)
    case 16:
    case 18:
      return readUint64(view, at, littleEndian)
    case 17:
      return Number(view.getBigInt64(at, littleEndian))
    default:
      return view.getUint8(at)
  }
}

/** Positions beyond 2^53 lie outside of every source, so rounding by `Number` does not matter. */
function readUint64(view: DataView, at: number, littleEndian: boolean): number {
  return Number(view.getBigUint64(at, littleEndian))
}

function readExactly(source: ByteSource, offset: number, length: number): Uint8Array {
  if (offset + length > source.size) throw truncatedGeoTiff({ size: source.size, needed: offset + length })
  return source.read(offset, length)
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function describe(head: Uint8Array): string {
  if (head.length < 8) return `only ${head.length} bytes`
  const text = String.fromCharCode(...head)
  if (text.startsWith('\x89PNG')) return 'the signature of a PNG'
  if (text.startsWith('\xff\xd8\xff')) return 'the signature of a JPEG'
  if (text.startsWith('PK')) return 'the signature of a ZIP archive'
  if (text.startsWith('\x1f\x8b')) return 'the signature of a gzip file'
  if (/^\s*</.test(text)) return 'HTML or XML'
  return `the bytes ${Array.from(head.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join(' ')}`
}
