import { WireWriter } from '../src/pbf/wire-writer.ts'

/** One file block around a blob that a test has made itself. */
export function fileBlock(type: string, blob: Uint8Array): Uint8Array {
  const header = new WireWriter().text(1, type).varint(3, blob.length).finish()
  const length = Buffer.alloc(4)
  length.writeUInt32BE(header.length)
  return Buffer.concat([length, header, blob])
}

/** A file whose data blob is given: the header before it is plain. */
export function pbfWith(blob: Uint8Array, features: readonly string[] = ['OsmSchema-V0.6', 'DenseNodes']): Uint8Array {
  const header = new WireWriter()
  for (const feature of features) header.text(4, feature)
  return Buffer.concat([fileBlock('OSMHeader', rawBlob(header.finish())), fileBlock('OSMData', blob)])
}

export function rawBlob(content: Uint8Array): Uint8Array {
  return new WireWriter().bytes(1, content).finish()
}

/** A packed field of zig-zag deltas. */
export function deltas(...values: number[]): Uint8Array {
  const wire = new WireWriter()
  let last = 0
  for (const value of values) {
    wire.rawZigzag(value - last)
    last = value
  }
  return wire.finish()
}

/** A PrimitiveBlock of one group. */
export function primitiveBlock(strings: readonly string[], group: Uint8Array): Uint8Array {
  const table = new WireWriter()
  for (const text of strings) table.text(1, text)
  return new WireWriter().bytes(1, table.finish()).bytes(2, group).finish()
}
