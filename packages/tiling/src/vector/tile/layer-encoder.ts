import { GrowingBytes, copyBytes } from '../bytes/growing-bytes.ts'
import { VarintReader, varintSize, writeVarint } from '../bytes/varint.ts'
import type { FeatureReader } from '../features/feature-record.ts'
import type { Kind } from '../features/shape.ts'

const TILE_LAYER = 0x1a
const LAYER_NAME = 0x0a
const LAYER_FEATURE = 0x12
const LAYER_KEY = 0x1a
const LAYER_VALUE = 0x22
const LAYER_EXTENT = 0x28
const LAYER_VERSION = 0x78
const FEATURE_ID = 0x08
const FEATURE_TAGS = 0x12
const FEATURE_TYPE = 0x18
const FEATURE_GEOMETRY = 0x22

/** Where the id and the attribute entries of a feature are, as feature records have them. */
type Attributed = Pick<FeatureReader, 'bytes' | 'hasId' | 'attributesStart' | 'attributesEnd'>

/**
 * Encodes tiles of one layer (Vector Tile specification 2.1): attribute values are taken as encoded messages and occur
 * once per tile. Not re-entrant.
 */
export class LayerEncoder {
  /** Features in the tile so far. */
  count = 0
  readonly #head: Uint8Array
  readonly #keyNames: readonly Uint8Array[]
  readonly #features = new GrowingBytes(1 << 16)
  readonly #keys = new GrowingBytes()
  readonly #values = new GrowingBytes(1 << 14)
  readonly #tags = new GrowingBytes()
  readonly #varints = new VarintReader()
  #keyIndex: Int32Array
  #keyCount = 0
  #valueCount = 0
  /** Open addressing from message to its number: four words a slot: tile, hash, number, place in `#values`. */
  #slots = new Int32Array(4 << 10)
  #tile = 0

  constructor(name: string, attributes: readonly string[]) {
    const text = new TextEncoder()
    this.#head = field(LAYER_NAME, text.encode(name))
    this.#keyNames = attributes.map((attribute) => field(LAYER_KEY, text.encode(attribute)))
    this.#keyIndex = new Int32Array(attributes.length)
  }

  /** Begins an empty tile. */
  begin(): void {
    this.count = 0
    this.#features.at = 0
    this.#keys.at = 0
    this.#values.at = 0
    this.#keyIndex.fill(-1)
    this.#keyCount = 0
    this.#valueCount = 0
    this.#tile++
  }

  /**
   * Adds a feature with the id (unless `withId` is false) and attributes of a feature record and the commands
   * `geometry[start, end)`.
   */
  add(feature: Attributed, withId: boolean, kind: Kind, geometry: Uint8Array, start: number, end: number): void {
    const { bytes } = feature
    let idSize = 0
    let at = feature.attributesStart
    if (feature.hasId) {
      while (bytes[at + idSize]! >= 0x80) idSize++
      idSize++
    }
    this.#collectTags(bytes, at + idSize, feature.attributesEnd)
    if (!withId) idSize = 0
    const tags = this.#tags.at
    const size = end - start
    const length =
      (idSize > 0 ? 1 + idSize : 0) + (tags > 0 ? 1 + varintSize(tags) + tags : 0) + 2 + 1 + varintSize(size) + size
    const out = this.#features
    out.ensure(length + 6)
    const target = out.bytes
    let to = out.at
    target[to++] = LAYER_FEATURE
    to = writeVarint(target, to, length)
    if (idSize > 0) {
      target[to++] = FEATURE_ID
      for (let i = 0; i < idSize; i++) target[to++] = bytes[at++]!
    }
    if (tags > 0) {
      target[to++] = FEATURE_TAGS
      to = writeVarint(target, to, tags)
      copyBytes(target, to, this.#tags.bytes, 0, tags)
      to += tags
    }
    target[to++] = FEATURE_TYPE
    target[to++] = kind
    target[to++] = FEATURE_GEOMETRY
    to = writeVarint(target, to, size)
    copyBytes(target, to, geometry, start, end)
    out.at = to + size
    this.count++
  }

  /** The tile, in memory of its own. */
  finish(extent: number): Uint8Array {
    const parts = [this.#head, this.#features.written(), this.#keys.written(), this.#values.written()]
    const tail = [LAYER_EXTENT, ...varint(extent), LAYER_VERSION, 2]
    const length = parts.reduce((sum, part) => sum + part.length, tail.length)
    const tile = new Uint8Array(1 + varintSize(length) + length)
    tile[0] = TILE_LAYER
    let at = writeVarint(tile, 1, length)
    for (const part of parts) {
      tile.set(part, at)
      at += part.length
    }
    tile.set(tail, at)
    return tile
  }

  /** Turns attribute entries into pairs of key and value numbers in `#tags`. */
  #collectTags(bytes: Uint8Array, start: number, end: number): void {
    const varints = this.#varints.open(bytes, start)
    const tags = this.#tags
    tags.at = 0
    while (varints.at < end) {
      const attribute = varints.next()
      let at = varints.at
      const hash = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      varints.at += 4
      const size = varints.next()
      at = varints.at
      varints.at = at + size
      if (this.#keyIndex[attribute] === -1) this.#addKey(attribute)
      tags.ensure(10)
      tags.at = writeVarint(tags.bytes, tags.at, this.#keyIndex[attribute]!)
      tags.at = writeVarint(tags.bytes, tags.at, this.#valueIndex(bytes, at, size, hash))
    }
  }

  #addKey(attribute: number): void {
    this.#keyIndex[attribute] = this.#keyCount++
    const key = this.#keyNames[attribute]!
    this.#keys.append(key, 0, key.length)
  }

  #valueIndex(bytes: Uint8Array, start: number, size: number, hash: number): number {
    const slots = this.#slots
    const mask = slots.length / 4 - 1
    let slot = hash & mask
    for (; slots[4 * slot] === this.#tile; slot = (slot + 1) & mask) {
      if (slots[4 * slot + 1] === hash && this.#isValueAt(slots[4 * slot + 3]!, bytes, start, size)) {
        return slots[4 * slot + 2]!
      }
    }
    const values = this.#values
    values.ensure(size + 6)
    values.bytes[values.at] = LAYER_VALUE
    slots[4 * slot] = this.#tile
    slots[4 * slot + 1] = hash
    slots[4 * slot + 2] = this.#valueCount
    slots[4 * slot + 3] = values.at + 1
    values.at = writeVarint(values.bytes, values.at + 1, size)
    values.append(bytes, start, start + size)
    if (++this.#valueCount * 8 > slots.length) this.#growSlots()
    return this.#valueCount - 1
  }

  /** Whether the length and message at a place in the values are these. */
  #isValueAt(place: number, bytes: Uint8Array, start: number, size: number): boolean {
    const values = this.#values.bytes
    const varints = size < 0x80 ? null : new VarintReader().open(values, place)
    if ((varints ? varints.next() : values[place]!) !== size) return false
    const at = varints ? varints.at : place + 1
    for (let i = 0; i < size; i++) if (values[at + i] !== bytes[start + i]) return false
    return true
  }

  #growSlots(): void {
    const old = this.#slots
    const slots = new Int32Array(old.length * 2)
    const mask = slots.length / 4 - 1
    for (let i = 0; i < old.length; i += 4) {
      if (old[i] !== this.#tile) continue
      let slot = old[i + 1]! & mask
      while (slots[4 * slot] === this.#tile) slot = (slot + 1) & mask
      for (let word = 0; word < 4; word++) slots[4 * slot + word] = old[i + word]!
    }
    this.#slots = slots
  }
}

function field(tag: number, content: Uint8Array): Uint8Array {
  return Uint8Array.from([tag, ...varint(content.length), ...content])
}

function varint(value: number): Uint8Array {
  const bytes = new Uint8Array(5)
  return bytes.subarray(0, writeVarint(bytes, 0, value))
}
