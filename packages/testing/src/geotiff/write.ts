import { shareJpegTables } from './blocks.ts'
import { FIELD, imageFields, maskFields, rasterFields } from './directory.ts'
import type { EncodedLevel } from './levels.ts'
import { encodeMask, encodePyramid } from './levels.ts'
import type { Field, GeoTiffOptions, ImageSource } from './spec.ts'

/**
 * Writes a GeoTIFF: the directories, then the blocks from the smallest overview to the full image, which is the order
 * of a cloud-optimized GeoTIFF. The image is read once, a row of blocks at a time; only the compressed blocks and the
 * overviews stay in memory. Yields the file from its first byte to its last.
 */
export async function* streamGeoTiff(image: ImageSource, options: GeoTiffOptions): AsyncGenerator<Uint8Array> {
  const images = await encodeImages(image, options)
  const dialect = { littleEndian: options.littleEndian ?? true, big: options.bigTiff ?? false }
  const headBytes = dialect.big ? 16 : 8
  const sizes = images.map(({ fields, level }) =>
    directoryBytes([...fields, ...blockFields(level, null, dialect.big)], dialect.big),
  )
  let position = headBytes + sizes.reduce((a, b) => a + b, 0)
  const offsets = new Map<EncodedLevel, number[]>()
  for (const { level } of images.toReversed()) {
    offsets.set(
      level,
      level.blocks.map((block) => {
        const at = block.length === 0 ? 0 : position
        position += block.length
        return at
      }),
    )
  }
  yield header(dialect)
  let at = headBytes
  for (const [i, { fields, level }] of images.entries()) {
    const size = sizes[i] as number
    const next = i + 1 < images.length ? at + size : 0
    yield directory([...fields, ...blockFields(level, offsets.get(level) ?? null, dialect.big)], {
      ...dialect,
      at,
      next,
      size,
    })
    at += size
  }
  for (const { level } of images.toReversed()) yield* level.blocks
}

/** A GeoTIFF in memory. */
export async function writeGeoTiff(image: ImageSource, options: GeoTiffOptions): Promise<Uint8Array> {
  const parts: Uint8Array[] = []
  for await (const part of streamGeoTiff(image, options)) parts.push(part)
  return new Uint8Array(Buffer.concat(parts))
}

interface EncodedImage {
  readonly level: EncodedLevel
  readonly fields: readonly Field[]
}

async function encodeImages(image: ImageSource, options: GeoTiffOptions): Promise<EncodedImage[]> {
  const pyramid = await encodePyramid(image, options)
  const images: EncodedImage[] = []
  for (const [i, encoded] of pyramid.entries()) {
    const shared = options.sharedJpegTables === true ? shareJpegTables(encoded.blocks) : null
    const level = shared === null ? encoded : { ...encoded, blocks: shared.streams }
    const role = { subfileType: i === 0 ? 0 : 1, jpegTables: shared?.tables ?? null }
    const usual = [...imageFields(level, options, role), ...(i === 0 ? rasterFields(options) : [])]
    const given = i === 0 ? (options.fields ?? []) : []
    images.push({ level, fields: [...usual.filter(({ tag }) => !given.some((field) => field.tag === tag)), ...given] })
    if (options.mask === undefined) continue
    const mask = await encodeMask(level, options, 2 ** i)
    images.push({ level: mask, fields: maskFields(mask, i > 0) })
  }
  return images
}

function blockFields(level: EncodedLevel, offsets: readonly number[] | null, big: boolean): Field[] {
  const type = big ? FIELD.long8 : FIELD.long
  const counts = level.blocks.map((block) => block.length)
  return [
    { tag: level.tiled ? 324 : 273, type, values: offsets ?? counts },
    { tag: level.tiled ? 325 : 279, type, values: counts },
  ]
}

interface Dialect {
  readonly littleEndian: boolean
  readonly big: boolean
}

const BYTES: Readonly<Record<number, number>> = {
  [FIELD.byte]: 1,
  [FIELD.ascii]: 1,
  [FIELD.short]: 2,
  [FIELD.long]: 4,
  [FIELD.undefined]: 1,
  [FIELD.double]: 8,
  [FIELD.long8]: 8,
}

function bytesOf(field: Field): number {
  return (BYTES[field.type] ?? 0) * field.values.length
}

/** Bytes of a directory. Values that do not fit into an entry follow the entries, on even positions. */
function directoryBytes(fields: readonly Field[], big: boolean): number {
  const fixed = big ? 16 + 20 * fields.length : 6 + 12 * fields.length
  return fields.reduce((sum, field) => sum + (bytesOf(field) > (big ? 8 : 4) ? evenly(bytesOf(field)) : 0), fixed)
}

function evenly(length: number): number {
  return length + (length % 2)
}

function header({ littleEndian, big }: Dialect): Uint8Array {
  const view = new DataView(new ArrayBuffer(big ? 16 : 8))
  view.setUint16(0, littleEndian ? 0x4949 : 0x4d4d)
  view.setUint16(2, big ? 43 : 42, littleEndian)
  if (big) {
    view.setUint16(4, 8, littleEndian)
    view.setBigUint64(8, 16n, littleEndian)
  } else view.setUint32(4, 8, littleEndian)
  return new Uint8Array(view.buffer)
}

interface Placement extends Dialect {
  readonly at: number
  readonly next: number
  readonly size: number
}

function directory(fields: readonly Field[], { littleEndian, big, at, next, size }: Placement): Uint8Array {
  const view = new DataView(new ArrayBuffer(size))
  const putWord = (position: number, value: number): void => {
    if (big) view.setBigUint64(position, BigInt(value), littleEndian)
    else view.setUint32(position, value, littleEndian)
  }
  const sorted = fields.toSorted((a, b) => a.tag - b.tag)
  const entryBytes = big ? 20 : 12
  if (big) view.setBigUint64(0, BigInt(sorted.length), littleEndian)
  else view.setUint16(0, sorted.length, littleEndian)
  const first = big ? 8 : 2
  let behind = first + entryBytes * sorted.length + (big ? 8 : 4)
  sorted.forEach((field, i) => {
    const entry = first + i * entryBytes
    const inline = bytesOf(field) <= (big ? 8 : 4)
    const valueAt = entry + (big ? 12 : 8)
    view.setUint16(entry, field.tag, littleEndian)
    view.setUint16(entry + 2, field.type, littleEndian)
    putWord(entry + 4, field.values.length)
    putValues(view, inline ? valueAt : behind, field, littleEndian)
    if (inline) return
    putWord(valueAt, at + behind)
    behind += evenly(bytesOf(field))
  })
  putWord(first + entryBytes * sorted.length, next)
  return new Uint8Array(view.buffer)
}

function putValues(view: DataView, at: number, { type, values }: Field, littleEndian: boolean): void {
  const width = BYTES[type] ?? 0
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    if (type === FIELD.double) view.setFloat64(at + i * width, value, littleEndian)
    else if (width === 8) view.setBigUint64(at + i * width, BigInt(value), littleEndian)
    else if (width === 4) view.setUint32(at + i * width, value, littleEndian)
    else if (width === 2) view.setUint16(at + i * width, value, littleEndian)
    else view.setUint8(at + i * width, value)
  }
}
