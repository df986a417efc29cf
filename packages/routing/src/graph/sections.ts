import { notAGraph } from '../errors.ts'

const MAGIC = 0x4e525254 // "TRRN", little-endian
const VERSION = 4
const HEADER_BYTES = 16
/** Word of the header that storage keeps a checksum in; zero where nothing was stored. */
const CHECKSUM_WORD = 3
const ALIGNMENT = 64

/** An array of a section. */
export type SectionArray = Uint8Array | Uint16Array | Uint32Array | Int32Array | Float32Array | Float64Array

interface ArrayType {
  readonly BYTES_PER_ELEMENT: number
  new (buffer: ArrayBufferLike, offset: number, length: number): SectionArray
}

type TypeName = 'u8' | 'u16' | 'u32' | 'i32' | 'f32' | 'f64'

const TYPES: Readonly<Record<TypeName, ArrayType>> = {
  u8: Uint8Array,
  u16: Uint16Array,
  u32: Uint32Array,
  i32: Int32Array,
  f32: Float32Array,
  f64: Float64Array,
}

interface Directory {
  readonly meta: Readonly<Record<string, unknown>>
  readonly sections: readonly {
    readonly name: string
    readonly type: TypeName
    readonly offset: number
    readonly length: number
  }[]
}

/** Named arrays over one buffer, with facts about the whole. */
export interface SectionFile {
  readonly buffer: ArrayBufferLike
  readonly meta: Readonly<Record<string, unknown>>
  readonly arrays: ReadonlyMap<string, SectionArray>
}

/**
 * Lays arrays out in one shared buffer, which is at the same time the file format: magic and version, the length of a
 * JSON directory, the directory, then the arrays, each on a boundary of 64 bytes, little-endian.
 */
export function packSections(
  arrays: Readonly<Record<string, SectionArray>>,
  meta: Readonly<Record<string, unknown>>,
): SectionFile {
  const sections = Object.entries(arrays).map(([name, array]) => ({
    name,
    type: typeName(array),
    offset: 0,
    length: array.length,
  }))
  // Offsets depend on the length of the directory, which depends on their digits: leave room for the longest.
  const room = JSON.stringify({ meta, sections }).length + sections.length * 16
  let end = align(HEADER_BYTES + room)
  for (const section of sections) {
    section.offset = end
    end = align(end + section.length * TYPES[section.type].BYTES_PER_ELEMENT)
  }
  const buffer = new SharedArrayBuffer(end)
  const directory = new TextEncoder().encode(JSON.stringify({ meta, sections } satisfies Directory))
  new Uint32Array(buffer, 0, 4).set([MAGIC, VERSION, directory.length, 0])
  new Uint8Array(buffer, HEADER_BYTES).set(directory)
  for (const { name, type, offset, length } of sections) new TYPES[type](buffer, offset, length).set(arrays[name]!)
  return openSections(buffer)
}

/**
 * Reads the directory of a buffer and gives views of its arrays; nothing is copied.
 *
 * @throws NOT_A_GRAPH when the buffer holds something else, another version, or is cut short
 */
export function openSections(buffer: ArrayBufferLike): SectionFile {
  if (buffer.byteLength < HEADER_BYTES) throw notAGraph({ reason: `it has only ${buffer.byteLength} bytes` })
  const [magic, version, length] = new Uint32Array(buffer, 0, 4)
  if (magic !== MAGIC) throw notAGraph({ reason: `it begins with 0x${magic!.toString(16)}` })
  if (version !== VERSION) throw notAGraph({ reason: `it has version ${version}, wanted is ${VERSION}` })
  if (HEADER_BYTES + length! > buffer.byteLength) throw notAGraph({ reason: 'its directory is cut short' })
  const directory = readDirectory(new Uint8Array(buffer, HEADER_BYTES, length))
  const arrays = new Map<string, SectionArray>()
  for (const { name, type, offset, length: count } of directory.sections) {
    if (offset + count * TYPES[type].BYTES_PER_ELEMENT > buffer.byteLength)
      throw notAGraph({ reason: `section ${name} is cut short` })
    arrays.set(name, new TYPES[type](buffer, offset, count))
  }
  return { buffer, meta: directory.meta, arrays }
}

/** The checksum in the header of a buffer; with a value, sets it. */
export function headerChecksum(buffer: ArrayBufferLike, value?: number): number {
  const header = new Uint32Array(buffer, 0, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT)
  if (value !== undefined) header[CHECKSUM_WORD] = value
  return header[CHECKSUM_WORD]!
}

/** What a checksum is made of: all that follows the header, or what of it lies between two offsets. */
export function contentOf(buffer: ArrayBufferLike, begin = 0, end = buffer.byteLength): Uint8Array {
  const first = Math.min(end, Math.max(begin, HEADER_BYTES))
  return new Uint8Array(buffer, first, end - first)
}

function readDirectory(bytes: Uint8Array): Directory {
  try {
    // Text of a shared buffer cannot be decoded in place.
    return JSON.parse(new TextDecoder().decode(bytes.slice())) as Directory
  } catch (cause) {
    throw notAGraph({ reason: 'its directory is damaged' }, { cause })
  }
}

function typeName(array: SectionArray): TypeName {
  const found = (Object.keys(TYPES) as TypeName[]).find((name) => array instanceof TYPES[name])
  if (found === undefined) throw new TypeError('A section must be one of the known array types.')
  return found
}

function align(offset: number): number {
  return Math.ceil(offset / ALIGNMENT) * ALIGNMENT
}
