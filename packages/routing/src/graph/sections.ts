import { notAGraph } from '../errors.ts'

const MAGIC = 0x4e525254 // "TRRN", little-endian
const VERSION = 15
export const HEADER_BYTES = 16
/** Header word for a checksum by the storage; zero without one. */
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

/** Named arrays in one buffer, with metadata. */
export interface SectionFile {
  readonly buffer: ArrayBufferLike
  readonly meta: Readonly<Record<string, unknown>>
  readonly arrays: ReadonlyMap<string, SectionArray>
}

/** Receives the sections of a file in order; a section may be freed after it was added. */
export interface SectionSink {
  add(name: string, array: SectionArray): void
}

/**
 * Offsets of the parts of a file. The format: magic and version, the length of a JSON directory, a checksum of
 * everything after it; the arrays, little-endian, aligned to 64 bytes; the directory. It is at the end, so that writing
 * can begin before all sections are known.
 */
export class SectionLayout {
  /** Offset of the next section. */
  end = align(HEADER_BYTES)
  readonly #sections: Directory['sections'][number][] = []

  /** Assigns an offset to a section. */
  place(name: string, array: SectionArray): number {
    const offset = this.end
    this.#sections.push({ name, type: typeName(array), offset, length: array.length })
    this.end = align(offset + array.byteLength)
    return offset
  }

  /** The directory, which lies at `end`. */
  directory(meta: Readonly<Record<string, unknown>>): Uint8Array {
    return new TextEncoder().encode(JSON.stringify({ meta, sections: this.#sections } satisfies Directory))
  }
}

/** The header of a file. */
export function headerOf(directoryBytes: number, checksum = 0): Uint32Array {
  return Uint32Array.of(MAGIC, VERSION, directoryBytes, checksum)
}

/** Copies arrays into one shared buffer. */
export function packSections(
  arrays: Readonly<Record<string, SectionArray>>,
  meta: Readonly<Record<string, unknown>>,
): SectionFile {
  const layout = new SectionLayout()
  const places = Object.entries(arrays).map(([name, array]) => ({ array, offset: layout.place(name, array) }))
  const directory = layout.directory(meta)
  const buffer = new SharedArrayBuffer(layout.end + directory.length)
  new Uint32Array(buffer, 0, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT).set(headerOf(directory.length))
  for (const { array, offset } of places) new TYPES[typeName(array)](buffer, offset, array.length).set(array)
  new Uint8Array(buffer, layout.end).set(directory)
  return openSections(buffer)
}

/**
 * Reads the directory of a buffer and returns views of its arrays; nothing is copied.
 *
 * @throws NOT_A_GRAPH when the buffer holds something else, another version, or is cut short
 */
export function openSections(buffer: ArrayBufferLike): SectionFile {
  const { byteLength } = buffer
  if (byteLength < HEADER_BYTES) throw notAGraph({ reason: `it has only ${byteLength} bytes` })
  const [magic, version, length] = new Uint32Array(buffer, 0, 4)
  if (magic !== MAGIC) throw notAGraph({ reason: `it begins with 0x${magic!.toString(16)}` })
  if (version !== VERSION) throw notAGraph({ reason: `it has version ${version}, wanted is ${VERSION}` })
  if (HEADER_BYTES + length! > byteLength) throw notAGraph({ reason: 'its directory is cut short' })
  const directory = readDirectory(new Uint8Array(buffer, byteLength - length!))
  const arrays = new Map<string, SectionArray>()
  for (const { name, type, offset, length: count } of directory.sections) {
    if (offset + count * TYPES[type].BYTES_PER_ELEMENT > byteLength)
      throw notAGraph({ reason: `section ${name} is cut short` })
    arrays.set(name, new TYPES[type](buffer, offset, count))
  }
  return { buffer, meta: directory.meta, arrays }
}

/** The checksum in the header of a buffer. */
export function headerChecksum(buffer: ArrayBufferLike): number {
  return new Uint32Array(buffer, 0, HEADER_BYTES / Uint32Array.BYTES_PER_ELEMENT)[CHECKSUM_WORD]!
}

function readDirectory(bytes: Uint8Array): Directory {
  try {
    // Text in a shared buffer cannot be decoded in place.
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
