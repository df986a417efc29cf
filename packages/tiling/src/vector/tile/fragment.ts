import { VarintReader, writeVarint, writeVarint53 } from '../bytes/varint.ts'
import { POINT } from '../features/shape.ts'
import type { Kind } from '../features/shape.ts'

/** Maximum bytes of a fragment without its geometry. */
export const FRAGMENT_HEAD = 16

const LAYER_SHIFT = 2

const MAX_WEIGHT = 0x7fffffff

/**
 * Writes the head of a fragment, the part of a feature that one tile shows: kind and layer, weight, address of the
 * feature. The geometry follows as Vector Tile commands, up to the end of the record. The weight is its size in the
 * tile: length of lines, area of polygons, in tile units.
 */
export function writeFragmentHead(
  bytes: Uint8Array,
  start: number,
  kind: Kind,
  layer: number,
  weight: number,
  feature: number,
): number {
  bytes[start] = kind | (layer << LAYER_SHIFT)
  const at = writeVarint(bytes, start + 1, Math.min(MAX_WEIGHT, Math.ceil(weight)))
  return writeVarint53(bytes, at, feature)
}

/** Reads fragment heads. */
export class FragmentReader {
  kind: Kind = POINT
  layer = 0
  weight = 0
  feature = 0
  /** Offset of the geometry in the opened bytes. */
  geometry = 0
  readonly #varints = new VarintReader()

  open(bytes: Uint8Array, start: number): void {
    this.kind = (bytes[start]! & 3) as Kind
    this.layer = bytes[start]! >>> LAYER_SHIFT
    const varints = this.#varints.open(bytes, start + 1)
    this.weight = varints.next()
    this.feature = varints.next()
    this.geometry = varints.at
  }
}
