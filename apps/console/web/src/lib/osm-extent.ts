import type { Box } from '../map/graticule.ts'

/** Bounds of the format's first block, which is the header (OSM wiki, "PBF Format"). */
const MAX_BLOB_HEADER = 64 * 1024
const MAX_BLOB = 1024 * 1024
const NANODEGREES = 1e9

/** The bounding box in the header of an .osm.pbf, in degrees; null when it is missing or unreadable. */
export async function osmExtent(file: Blob): Promise<Box | null> {
  const { PbfReader } = await import('pbf')
  /** Numbers and bytes of a protobuf message, by field number. */
  const read = (bytes: ArrayBuffer | Uint8Array, kinds: Readonly<Record<number, 'bytes' | 'signed' | 'whole'>>) =>
    new PbfReader(bytes).readFields(
      (tag, found, pbf) => {
        const kind = kinds[tag]
        if (kind === 'bytes') found.bytes.set(tag, pbf.readBytes())
        else if (kind) found.numbers.set(tag, kind === 'signed' ? pbf.readSVarint() : pbf.readVarint())
      },
      { bytes: new Map<number, Uint8Array>(), numbers: new Map<number, number>() },
    )
  try {
    const length = new DataView(await file.slice(0, 4).arrayBuffer()).getUint32(0)
    if (length > MAX_BLOB_HEADER) return null
    const start = 4 + length
    const size = read(await file.slice(4, start).arrayBuffer(), { 3: 'whole' }).numbers.get(3) ?? 0
    if (size > MAX_BLOB) return null
    const blob = read(await file.slice(start, start + size).arrayBuffer(), { 1: 'bytes', 3: 'bytes' }).bytes
    const header = blob.get(1) ?? (await inflate(blob.get(3)))
    const box = header && read(header, { 1: 'bytes' }).bytes.get(1)
    if (!box) return null
    const sides = read(box, { 1: 'signed', 2: 'signed', 3: 'signed', 4: 'signed' }).numbers
    const [west, east, north, south] = [1, 2, 3, 4].map((tag) => (sides.get(tag) ?? Number.NaN) / NANODEGREES)
    return west! < east! && south! < north! ? [west!, south!, east!, north!] : null
  } catch {
    return null
  }
}

async function inflate(bytes: Uint8Array | undefined): Promise<Uint8Array | undefined> {
  if (!bytes) return undefined
  const stream = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new DecompressionStream('deflate'))
  return new Uint8Array(await new Response(stream).arrayBuffer())
}
