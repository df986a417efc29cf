import { deflateSync, zstdCompressSync } from 'node:zlib'
import { NODE, RELATION, WAY } from '../block.ts'
import type { OsmElement, OsmNode, OsmRelation, OsmTags, OsmWay } from '../element.ts'
import { WireWriter } from './wire-writer.ts'

export interface PbfWriteOptions {
  /** West, south, east, north in degrees. */
  readonly bbox?: readonly [number, number, number, number]
  readonly timestamp?: Date
  readonly writingProgram?: string
  readonly compression?: 'none' | 'zlib' | 'zstd'
  /** Nodes as DenseNodes, the usual way; else one message per node. */
  readonly dense?: boolean
  /** Elements per block. */
  readonly blockSize?: number
  /** Nanodegrees per unit of the coordinates; a coordinate off this grid is rounded to it. */
  readonly granularity?: number
  /** Nanodegrees at which the coordinates begin. */
  readonly lonOffset?: number
  readonly latOffset?: number
  readonly requiredFeatures?: readonly string[]
  readonly optionalFeatures?: readonly string[]
}

const MEMBER_TYPES = { node: NODE, way: WAY, relation: RELATION } as const

/** Writes elements as PBF blocks in their order, one kind each; bytes depend on the input and zlib alone. */
export function* writePbf(elements: Iterable<OsmElement>, options: PbfWriteOptions = {}): Generator<Uint8Array> {
  const { compression = 'zlib', blockSize = 8000 } = options
  yield fileBlock('OSMHeader', encodeHeader(options), compression)
  let batch: OsmElement[] = []
  for (const element of elements) {
    if (batch.length >= blockSize || (batch[0] && batch[0].type !== element.type)) {
      yield fileBlock('OSMData', encodeBlock(batch, options), compression)
      batch = []
    }
    batch.push(element)
  }
  if (batch.length > 0) yield fileBlock('OSMData', encodeBlock(batch, options), compression)
}

function fileBlock(type: string, content: Uint8Array, compression: 'none' | 'zlib' | 'zstd'): Uint8Array {
  const blob = new WireWriter()
  if (compression === 'none') blob.bytes(1, content)
  else {
    blob.varint(2, content.length)
    if (compression === 'zlib') blob.bytes(3, deflateSync(content))
    else blob.bytes(7, zstdCompressSync(content))
  }
  const body = blob.finish()
  const header = new WireWriter().text(1, type).varint(3, body.length).finish()
  const block = new Uint8Array(4 + header.length + body.length)
  new DataView(block.buffer).setUint32(0, header.length)
  block.set(header, 4)
  block.set(body, 4 + header.length)
  return block
}

function encodeHeader(options: PbfWriteOptions): Uint8Array {
  const header = new WireWriter()
  if (options.bbox) {
    const [west, south, east, north] = options.bbox
    const sides = [west, east, north, south]
    const bbox = new WireWriter()
    for (const [i, side] of sides.entries()) bbox.zigzag(i + 1, Math.round(side * 1e9))
    header.bytes(1, bbox.finish())
  }
  const dense = options.dense === false ? [] : ['DenseNodes']
  for (const feature of ['OsmSchema-V0.6', ...dense, ...(options.requiredFeatures ?? [])]) header.text(4, feature)
  for (const feature of options.optionalFeatures ?? []) header.text(5, feature)
  header.text(16, options.writingProgram ?? 'terrane')
  if (options.timestamp) header.varint(32, Math.floor(options.timestamp.getTime() / 1000))
  return header.finish()
}

/** A PrimitiveBlock before compression. */
export function encodeBlock(batch: readonly OsmElement[], options: PbfWriteOptions): Uint8Array {
  const { granularity = 100, lonOffset = 0, latOffset = 0 } = options
  const grid: Grid = { granularity, lonOffset, latOffset }
  const strings = new Strings()
  const group = new WireWriter()
  const nodes = batch.filter((element) => element.type === 'node')
  if (nodes.length > 0 && options.dense !== false) group.bytes(2, encodeDense(nodes, strings, grid))
  else for (const node of nodes) group.bytes(1, encodeNode(node, strings, grid))
  for (const element of batch) {
    if (element.type === 'way') group.bytes(3, encodeWay(element, strings))
    else if (element.type === 'relation') group.bytes(4, encodeRelation(element, strings))
  }
  const block = new WireWriter().bytes(1, strings.encode()).bytes(2, group.finish())
  if (granularity !== 100) block.varint(17, granularity)
  if (latOffset !== 0) block.varint(19, latOffset)
  if (lonOffset !== 0) block.varint(20, lonOffset)
  return block.finish()
}

interface Grid {
  readonly granularity: number
  readonly lonOffset: number
  readonly latOffset: number
}

function encodeDense(nodes: readonly OsmNode[], strings: Strings, grid: Grid): Uint8Array {
  const ids = new WireWriter()
  const lats = new WireWriter()
  const lons = new WireWriter()
  const tags = new WireWriter()
  let [lastId, lastLat, lastLon] = [0, 0, 0]
  for (const node of nodes) {
    const lat = onGrid(node.lat, grid.latOffset, grid.granularity)
    const lon = onGrid(node.lon, grid.lonOffset, grid.granularity)
    ids.rawZigzag(node.id - lastId)
    lats.rawZigzag(lat - lastLat)
    lons.rawZigzag(lon - lastLon)
    lastId = node.id
    lastLat = lat
    lastLon = lon
    for (const [key, value] of Object.entries(node.tags ?? {})) {
      tags.raw(strings.index(key))
      tags.raw(strings.index(value))
    }
    tags.raw(0)
  }
  const dense = new WireWriter().bytes(1, ids.finish()).bytes(8, lats.finish()).bytes(9, lons.finish())
  if (nodes.some((node) => node.tags && Object.keys(node.tags).length > 0)) dense.bytes(10, tags.finish())
  return dense.finish()
}

function encodeNode(node: OsmNode, strings: Strings, grid: Grid): Uint8Array {
  const wire = new WireWriter().zigzag(1, node.id)
  encodeTags(wire, node.tags, strings)
  wire.zigzag(8, onGrid(node.lat, grid.latOffset, grid.granularity))
  wire.zigzag(9, onGrid(node.lon, grid.lonOffset, grid.granularity))
  return wire.finish()
}

function encodeWay(way: OsmWay, strings: Strings): Uint8Array {
  const wire = new WireWriter().varint(1, way.id)
  encodeTags(wire, way.tags, strings)
  return wire.bytes(8, deltas(way.refs)).finish()
}

function encodeRelation(relation: OsmRelation, strings: Strings): Uint8Array {
  const wire = new WireWriter().varint(1, relation.id)
  encodeTags(wire, relation.tags, strings)
  const roles = new WireWriter()
  const types = new WireWriter()
  for (const member of relation.members) {
    roles.raw(strings.index(member.role))
    types.raw(MEMBER_TYPES[member.type])
  }
  wire.bytes(8, roles.finish())
  wire.bytes(9, deltas(relation.members.map((member) => member.ref)))
  return wire.bytes(10, types.finish()).finish()
}

function encodeTags(wire: WireWriter, tags: OsmTags | undefined, strings: Strings): void {
  const entries = Object.entries(tags ?? {})
  if (entries.length === 0) return
  const keys = new WireWriter()
  const values = new WireWriter()
  for (const [key, value] of entries) {
    keys.raw(strings.index(key))
    values.raw(strings.index(value))
  }
  wire.bytes(2, keys.finish()).bytes(3, values.finish())
}

function deltas(values: readonly number[]): Uint8Array {
  const wire = new WireWriter()
  let last = 0
  for (const value of values) {
    wire.rawZigzag(value - last)
    last = value
  }
  return wire.finish()
}

function onGrid(degrees: number, offset: number, granularity: number): number {
  return Math.round((Math.round(degrees * 1e9) - offset) / granularity)
}

/** The string table of a block being written; index 0 is the end mark of dense tags and never a string in use. */
class Strings {
  readonly #indices = new Map<string, number>()

  index(text: string): number {
    let index = this.#indices.get(text)
    if (index === undefined) {
      index = this.#indices.size + 1
      this.#indices.set(text, index)
    }
    return index
  }

  encode(): Uint8Array {
    const table = new WireWriter().text(1, '')
    for (const text of this.#indices.keys()) table.text(1, text)
    return table.finish()
  }
}
