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
const VALUE_TEXT = 0x0a

/** Length of a feature's entry in `#features`. */
const FEATURE_NUMBERS = 4

/** The id and the attribute entries of a feature, as stored in feature records. */
type Attributed = Pick<FeatureReader, 'bytes' | 'hasId' | 'attributesStart' | 'attributesEnd'>

/**
 * Encodes tiles of one layer (Vector Tile specification 2.1): attribute values are encoded messages, stored once per
 * tile and sorted, which makes the compressed tile smaller. Not re-entrant.
 */
export class LayerEncoder {
  /** Number of features in the tile. */
  count = 0
  readonly #head: Uint8Array
  readonly #keyNames: readonly Uint8Array[]
  /** The kind of each feature, and where its id, its commands and its tags end. */
  readonly #features: number[] = []
  /** Ids and commands. */
  readonly #contents = new GrowingBytes(1 << 16)
  /** Pairs of a key and a value, as indexes in the order of their first use. */
  readonly #tags: number[] = []
  readonly #keys = new GrowingBytes()
  readonly #values = new GrowingBytes(1 << 14)
  readonly #valueStarts: number[] = []
  readonly #out = new GrowingBytes(1 << 16)
  readonly #varints = new VarintReader()
  #keyIndex: Int32Array
  #keyCount = 0
  /** Open addressing from message to its number; four words per slot: tile, hash, number, place in `#values`. */
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
    for (const list of [this.#features, this.#tags, this.#valueStarts]) list.length = 0
    for (const bytes of [this.#contents, this.#keys, this.#values, this.#out]) bytes.at = 0
    this.#keyIndex.fill(-1)
    this.#keyCount = 0
    this.#tile++
  }

  /**
   * Adds a feature with the id (unless `withId` is false) and attributes of a feature record and the commands
   * `geometry[start, end)`.
   */
  add(feature: Attributed, withId: boolean, kind: Kind, geometry: Uint8Array, start: number, end: number): void {
    const { bytes, attributesStart } = feature
    let idEnd = attributesStart
    if (feature.hasId) while (bytes[idEnd++]! >= 0x80);
    this.#collectTags(bytes, idEnd, feature.attributesEnd)
    const contents = this.#contents
    if (withId) contents.append(bytes, attributesStart, idEnd)
    const contentsOfId = contents.at
    contents.append(geometry, start, end)
    this.#features.push(kind, contentsOfId, contents.at, this.#tags.length)
    this.count++
  }

  /** The tile, in new memory. */
  finish(extent: number): Uint8Array {
    const order = this.#sortValues()
    this.#writeFeatures(order)
    const out = this.#out
    out.append(this.#keys.bytes, 0, this.#keys.at)
    for (const value of order) out.append(this.#values.bytes, this.#valueStarts[value]!, this.#valueEnd(value))
    const tail = [LAYER_EXTENT, ...varint(extent), LAYER_VERSION, 2]
    const length = this.#head.length + out.at + tail.length
    const tile = new Uint8Array(1 + varintSize(length) + length)
    tile[0] = TILE_LAYER
    let at = writeVarint(tile, 1, length)
    for (const part of [this.#head, out.written(), tail]) {
      tile.set(part, at)
      at += part.length
    }
    return tile
  }

  /** Order of the values by type and content, so that neighbours share prefixes. */
  #sortValues(): number[] {
    const { bytes } = this.#values
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    const contents = this.#valueStarts.map((start, value) => {
      const message = start + 1 + varintSizeAt(bytes, start + 1)
      // The length of a text is not part of its content.
      const content = bytes[message] === VALUE_TEXT ? message + 1 + varintSizeAt(bytes, message + 1) : message
      return String.fromCharCode(bytes[message]!) + buffer.toString('latin1', content, this.#valueEnd(value))
    })
    return contents.map((_, value) => value).toSorted((a, b) => (contents[a]! < contents[b]! ? -1 : 1))
  }

  #valueEnd(value: number): number {
    return this.#valueStarts[value + 1] ?? this.#values.at
  }

  /** Writes the features with the numbers of their values in this order. */
  #writeFeatures(order: readonly number[]): void {
    const numbers = new Int32Array(order.length)
    for (const [number, value] of order.entries()) numbers[value] = number
    const features = this.#features
    const tags = this.#tags
    const contents = this.#contents.bytes
    const out = this.#out
    let idStart = 0
    let tag = 0
    for (let i = 0; i < features.length; i += FEATURE_NUMBERS) {
      const idEnd = features[i + 1]!
      const end = features[i + 2]!
      const tagEnd = features[i + 3]!
      let tagBytes = 0
      for (let t = tag; t < tagEnd; t += 2) tagBytes += varintSize(tags[t]!) + varintSize(numbers[tags[t + 1]!]!)
      const idBytes = idEnd - idStart
      const size = end - idEnd
      const length =
        (idBytes > 0 ? 1 + idBytes : 0) +
        (tagBytes > 0 ? 1 + varintSize(tagBytes) + tagBytes : 0) +
        (2 + 1 + varintSize(size) + size)
      out.ensure(length + 6)
      const target = out.bytes
      let to = out.at
      target[to++] = LAYER_FEATURE
      to = writeVarint(target, to, length)
      if (idBytes > 0) {
        target[to++] = FEATURE_ID
        while (idStart < idEnd) target[to++] = contents[idStart++]!
      }
      if (tagBytes > 0) {
        target[to++] = FEATURE_TAGS
        to = writeVarint(target, to, tagBytes)
        for (; tag < tagEnd; tag += 2) {
          to = writeVarint(target, to, tags[tag]!)
          to = writeVarint(target, to, numbers[tags[tag + 1]!]!)
        }
      }
      target[to++] = FEATURE_TYPE
      target[to++] = features[i]!
      target[to++] = FEATURE_GEOMETRY
      to = writeVarint(target, to, size)
      copyBytes(target, to, contents, idEnd, end)
      out.at = to + size
      idStart = end
    }
  }

  /** Adds attribute entries to `#tags`. */
  #collectTags(bytes: Uint8Array, start: number, end: number): void {
    const varints = this.#varints.open(bytes, start)
    while (varints.at < end) {
      const attribute = varints.next()
      let at = varints.at
      const hash = bytes[at]! | (bytes[at + 1]! << 8) | (bytes[at + 2]! << 16) | (bytes[at + 3]! << 24)
      varints.at += 4
      const size = varints.next()
      at = varints.at
      varints.at = at + size
      if (this.#keyIndex[attribute] === -1) this.#addKey(attribute)
      this.#tags.push(this.#keyIndex[attribute]!, this.#valueIndex(bytes, at, size, hash))
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
    this.#valueStarts.push(values.at)
    values.bytes[values.at] = LAYER_VALUE
    slots[4 * slot] = this.#tile
    slots[4 * slot + 1] = hash
    slots[4 * slot + 2] = this.#valueStarts.length - 1
    slots[4 * slot + 3] = values.at + 1
    values.at = writeVarint(values.bytes, values.at + 1, size)
    values.append(bytes, start, start + size)
    if (this.#valueStarts.length * 8 > slots.length) this.#growSlots()
    return this.#valueStarts.length - 1
  }

  /** Whether the values contain this length and message at a place. */
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

/** Bytes of the varint at a place. */
function varintSizeAt(bytes: Uint8Array, at: number): number {
  let size = 1
  while (bytes[at++]! >= 0x80) size++
  return size
}

function field(tag: number, content: Uint8Array): Uint8Array {
  return Uint8Array.from([tag, ...varint(content.length), ...content])
}

function varint(value: number): Uint8Array {
  const bytes = new Uint8Array(5)
  return bytes.subarray(0, writeVarint(bytes, 0, value))
}
