import { Path, PolygonCleaner } from '@terrane/core'
import { FeatureReader } from '../features/feature-record.ts'
import { LINE, POINT, POLYGON } from '../features/shape.ts'
import type { Kind } from '../features/shape.ts'
import type { RecordLog } from '../spill/record-log.ts'
import { EXTENT } from '../world.ts'
import { commandsSizeBound, writePath, writePoints } from './commands.ts'
import type { LayerEncoder } from './layer-encoder.ts'
import { readCommands } from './read-commands.ts'
import type { TileGroup } from './tile-group.ts'

/** Encodes the fragments of a tile in their layers: unchanged, coalesced, or coarser. Not re-entrant. */
export class TileEncoder {
  readonly #features: RecordLog
  readonly #layers: readonly LayerEncoder[]
  readonly #feature = new FeatureReader()
  readonly #cleaner = new PolygonCleaner()
  readonly #path = new Path()
  #commands = new Uint8Array(1 << 12)

  constructor(features: RecordLog, layers: readonly LayerEncoder[]) {
    this.#features = features
    this.#layers = layers
  }

  /** All fragments of a group. */
  encode(group: TileGroup): Uint8Array {
    this.#begin()
    for (let i = 0; i < group.count; i++) this.#addFragment(group, i)
    return this.#finish(EXTENT)
  }

  /**
   * The chosen fragments. Lines with equal attributes are joined into one feature, and so are points; a joined feature
   * has no id. Complete layers are unchanged.
   */
  encodeCoalesced(group: TileGroup, chosen: readonly number[], isWhole: (layer: number) => boolean): Uint8Array {
    const sets = new Map<string, number[]>()
    for (const index of chosen) {
      const { kind, layer, feature } = group.open(index)
      const key =
        kind === POLYGON || isWhole(layer) ? `alone ${index}` : `${layer} ${kind} ${this.#attributesOf(feature)}`
      const members = sets.get(key)
      if (members) members.push(index)
      else sets.set(key, [index])
    }
    this.#begin()
    for (const members of sets.values()) {
      if (members.length === 1) this.#addFragment(group, members[0]!)
      else this.#addTogether(group, members)
    }
    return this.#finish(EXTENT)
  }

  /** The record of a feature; valid until the next call. */
  featureOf(address: number): FeatureReader {
    this.#open(address)
    return this.#feature
  }

  /** Chosen fragments on a grid that is coarser by a power of two. */
  encodeCoarse(group: TileGroup, chosen: Iterable<number>, bits: number): Uint8Array {
    this.#begin()
    for (const i of chosen) {
      const { kind, layer, feature, geometry } = group.open(i)
      this.#path.clear()
      readCommands(group.bytes, geometry, group.endOf(i), kind, this.#path)
      this.#open(feature)
      this.#addPath(coarsen(this.#path, kind, bits, this.#cleaner), kind, layer, true)
    }
    return this.#finish(EXTENT >> bits)
  }

  #begin(): void {
    for (const layer of this.#layers) layer.begin()
  }

  /** The layers that have features, in their order. */
  #finish(extent: number): Uint8Array {
    const parts = this.#layers.filter(({ count }) => count > 0).map((layer) => layer.finish(extent))
    return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
  }

  #addFragment(group: TileGroup, index: number): void {
    const { kind, layer, feature, geometry } = group.open(index)
    this.#open(feature)
    this.#layers[layer]!.add(this.#feature, true, kind, group.bytes, geometry, group.endOf(index))
  }

  #addTogether(group: TileGroup, members: readonly number[]): void {
    this.#path.clear()
    let kind: Kind = POINT
    let layer = 0
    for (const index of members) {
      const fragment = group.open(index)
      kind = fragment.kind
      layer = fragment.layer
      readCommands(group.bytes, fragment.geometry, group.endOf(index), kind, this.#path)
      this.#open(fragment.feature)
    }
    this.#addPath(this.#path, kind, layer, false)
  }

  #addPath(path: Path, kind: Kind, layer: number, withId: boolean): void {
    const bound = commandsSizeBound(path)
    if (this.#commands.length < bound) this.#commands = new Uint8Array(bound * 2)
    const end =
      kind === POINT ? writePoints(this.#commands, 0, path) : writePath(this.#commands, 0, path, kind === POLYGON)
    this.#layers[layer]!.add(this.#feature, withId, kind, this.#commands, 0, end)
  }

  #open(address: number): void {
    this.#features.open(address)
    this.#feature.open(this.#features.page, this.#features.start)
  }

  /** The attribute entries of a feature without its id, as a key. */
  #attributesOf(address: number): string {
    this.#open(address)
    const { bytes, attributesEnd, hasId } = this.#feature
    let start = this.#feature.attributesStart
    if (hasId) while (bytes[start++]! >= 0x80);
    return Buffer.from(bytes.buffer, bytes.byteOffset + start, attributesEnd - start).toString('latin1')
  }
}

/** The path on a grid coarser by `bits`; parts that collapse become a mark of one unit. */
function coarsen(path: Path, kind: Kind, bits: number, cleaner: PolygonCleaner): Path {
  const rough = new Path()
  const half = 2 ** (bits - 1)
  for (let part = 0; part < path.parts; part++) {
    const end = path.ends[part]!
    const first = rough.length
    rough.ensure(path.length / 2)
    for (let i = path.startOf(part); i < end; i += 2) {
      const x = (path.xy[i]! + half) >> bits
      const y = (path.xy[i + 1]! + half) >> bits
      const last = rough.length - 2
      if (kind === POINT || last < first || rough.xy[last] !== x || rough.xy[last + 1] !== y) rough.push(x, y)
    }
    rough.endPart(path.holes[part]!, kind === POLYGON ? 3 : kind === LINE ? 2 : 1)
  }
  let out = rough
  if (kind === POLYGON) {
    cleaner.clean(rough)
    out = cleaner.out
  }
  if (out.parts > 0) return out
  const mark = new Path()
  const x = (path.xy[0]! + half) >> bits
  const y = (path.xy[1]! + half) >> bits
  mark.push(x, y)
  mark.push(x + 1, y)
  if (kind === POLYGON) {
    mark.push(x + 1, y + 1)
    mark.push(x, y + 1)
  }
  mark.endPart(0, 2)
  return mark
}
