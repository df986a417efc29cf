import { VarintReader, unzigzag, writeVarint, zigzag } from '../bytes/varint.ts'
import { POINT, type Shape } from './shape.ts'
import type { Kind } from './shape.ts'
import { readNumber } from './attributes.ts'

const HAS_ID = 4
const LAYER_SHIFT = 3

/**
 * Stored form of a feature between reading and tiling. Layout: kind, whether there is an id, and layer (1 byte), length
 * of the attributes (varint), id (varint), attribute entries, then the geometry: number of parts, and for each part its
 * vertex count and role, then its vertices as differences.
 */
export interface EncodedAttributes {
  readonly bytes: Uint8Array
  /** Bytes of the id at the beginning; 0 without an id. */
  readonly idSize: number
  readonly size: number
}

/** Maximum number of bytes that `writeFeature` needs. */
export function featureSizeBound(shape: Shape, attributes: EncodedAttributes): number {
  return 11 + attributes.size + shape.parts * 5 + shape.size * 10
}

/** Writes a feature record; returns the position after it. */
export function writeFeature(
  bytes: Uint8Array,
  start: number,
  shape: Shape,
  attributes: EncodedAttributes,
  layer: number,
): number {
  let at = start
  bytes[at++] = shape.kind | (attributes.idSize > 0 ? HAS_ID : 0) | (layer << LAYER_SHIFT)
  at = writeVarint(bytes, at, attributes.size)
  bytes.set(attributes.bytes.subarray(0, attributes.size), at)
  at = writeVarint(bytes, at + attributes.size, shape.parts)
  const { xy, ends, holes } = shape
  let px = 0
  let py = 0
  let vertex = 0
  for (let part = 0; part < shape.parts; part++) {
    const end = ends[part]!
    at = writeVarint(bytes, at, (end - vertex) * 2 + holes[part]!)
    for (; vertex < end; vertex++) {
      const x = xy[2 * vertex]!
      const y = xy[2 * vertex + 1]!
      at = writeVarint(bytes, at, zigzag(x - px))
      at = writeVarint(bytes, at, zigzag(y - py))
      px = x
      py = y
    }
  }
  return at
}

/** Reads attributes and geometries of feature records separately. */
export class FeatureReader {
  /** Offsets of the attribute entries in the record opened last, and whether it begins with an id. */
  hasId = false
  attributesStart = 0
  attributesEnd = 0
  kind: Kind = POINT
  layer = 0
  bytes: Uint8Array = new Uint8Array(0)
  readonly #varints = new VarintReader()

  open(bytes: Uint8Array, start: number): void {
    const head = bytes[start]!
    this.bytes = bytes
    this.hasId = (head & HAS_ID) !== 0
    this.kind = (head & 3) as Kind
    this.layer = head >>> LAYER_SHIFT
    const size = this.#varints.open(bytes, start + 1).next()
    this.attributesStart = this.#varints.at
    this.attributesEnd = this.attributesStart + size
  }

  /** Numeric value of an attribute in the record opened last; NaN without one. */
  numberOf(attribute: number): number {
    const { bytes } = this
    let start = this.attributesStart
    if (this.hasId) while (bytes[start++]! >= 0x80);
    const varints = this.#varints.open(bytes, start)
    while (varints.at < this.attributesEnd) {
      const found = varints.next()
      varints.at += 4
      const size = varints.next()
      if (found === attribute) return readNumber(bytes, varints.at, size)
      varints.at += size
    }
    return Number.NaN
  }

  /** Decodes the geometry of the record opened last. */
  readShape(shape: Shape): void {
    shape.reset(this.kind)
    const varints = this.#varints.open(this.bytes, this.attributesEnd)
    const parts = varints.next()
    let x = 0
    let y = 0
    for (let part = 0; part < parts; part++) {
      const head = varints.next()
      const count = head >>> 1
      shape.ensure(count)
      const xy = shape.xy
      let at = shape.size * 2
      for (let i = 0; i < count; i++) {
        x += unzigzag(varints.next())
        y += unzigzag(varints.next())
        xy[at++] = x
        xy[at++] = y
      }
      shape.size += count
      shape.endPart((head & 1) === 1)
    }
  }
}
