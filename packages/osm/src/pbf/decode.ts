import { UNDEFINED_COORDINATE, reserveTags } from '../block.ts'
import type { BlockColumns, Kinds, TagColumns } from '../block.ts'
import { osmMalformed } from '../errors.ts'
import { fieldEnd, fieldStart, hasBytes, readSigned, readZigzag, scanFields } from './fields.ts'
import { BYTES, VARINT, Wire, countVarints, readDeltas, readSmallDeltas, readUnsigned } from './wire.ts'

/** Bits of the result of {@link decodeBlock}: the kinds that a block holds, decoded or not. */
export const HAS_NODES = 1
export const HAS_WAYS = 2
export const HAS_RELATIONS = 4

/**
 * Conversion of a block's numbers to 1e-7 degrees: `(offset + granularity * n) / 100`, in nanodegrees before the
 * division.
 */
interface Scale {
  granularity: number
  lonOffset: number
  latOffset: number
}

const MAX_LON = 1_800_000_000
const MAX_LAT = 900_000_000

/** Sums of deltas before their conversion to coordinates; one buffer is enough, because decoding is synchronous. */
let scratch = new Float64Array(8192)

/**
 * Decodes the bytes of a PrimitiveBlock into `block`, only the kinds wanted; returns the kinds it holds.
 *
 * Source: OSM wiki "PBF Format", osmformat.proto.
 * @throws OSM_MALFORMED
 */
export function decodeBlock(bytes: Uint8Array, kinds: Kinds, block: BlockColumns): number {
  block.reset()
  block.strings.reset(bytes)
  const scale: Scale = { granularity: 100, lonOffset: 0, latOffset: 0 }
  const groups: Wire[] = []
  const wire = new Wire(bytes)
  while (wire.next()) {
    if (wire.is(1, BYTES)) addStrings(wire.message(), block)
    else if (wire.is(2, BYTES)) groups.push(wire.message())
    else if (wire.is(17, VARINT)) scale.granularity = wire.int64()
    else if (wire.is(19, VARINT)) scale.latOffset = wire.int64()
    else if (wire.is(20, VARINT)) scale.lonOffset = wire.int64()
    else wire.skip()
  }
  // Scale and strings may come after the groups that use them.
  let found = 0
  for (const group of groups) found |= decodeGroup(group, kinds, block, scale)
  return found
}

function addStrings(table: Wire, block: BlockColumns): void {
  while (table.next()) {
    if (table.is(1, BYTES)) {
      const end = table.lengthDelimitedEnd()
      block.strings.addBytes(table.pos, end)
      table.pos = end
    } else table.skip()
  }
}

function decodeGroup(group: Wire, kinds: Kinds, block: BlockColumns, scale: Scale): number {
  const { bytes } = group
  let found = 0
  while (group.next()) {
    if (group.type !== BYTES) {
      group.skip()
      continue
    }
    const end = group.lengthDelimitedEnd()
    switch (group.field) {
      case 1:
        found |= HAS_NODES
        if (kinds.nodes) decodeNode(bytes, group.pos, end, block, scale)
        break
      case 2:
        found |= HAS_NODES
        if (kinds.nodes) decodeDenseNodes(bytes, group.pos, end, block, scale)
        break
      case 3:
        found |= HAS_WAYS
        if (kinds.ways) decodeWay(bytes, group.pos, end, block, scale)
        break
      case 4:
        found |= HAS_RELATIONS
        if (kinds.relations) decodeRelation(bytes, group.pos, end, block)
        break
      default: // change sets
    }
    group.pos = end
  }
  return found
}

function decodeDenseNodes(bytes: Uint8Array, pos: number, end: number, block: BlockColumns, scale: Scale): void {
  scanFields(bytes, pos, end)
  const [idField, latField, lonField, tagField] = [1, 8, 9, 10]
  const nodes = block.nodes
  const first = nodes.count
  if (!hasBytes(idField) || !hasBytes(latField) || !hasBytes(lonField)) {
    throw osmMalformed({ what: 'dense nodes lack ids, latitudes or longitudes' })
  }
  const added = countVarints(bytes, fieldStart[idField]!, fieldEnd[idField]!)
  block.reserveNodes(first + added)
  readDeltas(bytes, fieldStart[idField]!, fieldEnd[idField]!, nodes.ids, first)
  nodes.count = first + added
  readLocations(bytes, lonField, latField, nodes.lon, nodes.lat, first, added, scale)
  if (hasBytes(tagField)) decodeDenseTags(bytes, fieldStart[tagField]!, fieldEnd[tagField]!, block, first)
  else nodes.tagOffsets.fill(nodes.tagOffsets[first]!, first + 1, nodes.count + 1)
}

/** Reads `key, value, ..., 0` for each node; an empty field means that no node has tags. */
function decodeDenseTags(bytes: Uint8Array, pos: number, end: number, block: BlockColumns, first: number): void {
  const nodes = block.nodes
  const { tagOffsets, count } = nodes
  const size = block.strings.size
  let pair = tagOffsets[first]!
  if (pos === end) {
    tagOffsets.fill(pair, first + 1, count + 1)
    return
  }
  reserveTags(nodes, pair + ((end - pos) >>> 1) + 1)
  const tags = nodes.tags
  let row = first
  while (pos < end) {
    // The most frequent byte of a file: the end of a node's tags.
    if (bytes[pos] === 0) {
      pos++
      if (row === count) break
      tagOffsets[++row] = pair
      continue
    }
    let byte = bytes[pos++]!
    let key = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      if (pos >= end || shift > 28) throw badTag()
      byte = bytes[pos++]!
      key |= (byte & 127) << shift
    }
    if (pos === end) throw badTag()
    byte = bytes[pos++]!
    let value = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      if (pos >= end || shift > 28) throw badTag()
      byte = bytes[pos++]!
      value |= (byte & 127) << shift
    }
    if (key >>> 0 >= size || value >>> 0 >= size) throw badTag()
    tags[pair * 2] = key
    tags[pair * 2 + 1] = value
    pair++
  }
  if (pos !== end || row !== count) throw osmMalformed({ what: 'the tag lists of dense nodes do not match their ids' })
}

function decodeNode(bytes: Uint8Array, pos: number, end: number, block: BlockColumns, scale: Scale): void {
  scanFields(bytes, pos, end)
  const nodes = block.nodes
  const row = nodes.count
  block.reserveNodes(row + 1)
  const lat = coordinate(readZigzag(bytes, 8, 'latitude'), scale.granularity, scale.latOffset, MAX_LAT)
  const lon = coordinate(readZigzag(bytes, 9, 'longitude'), scale.granularity, scale.lonOffset, MAX_LON)
  const defined = lat !== UNDEFINED_COORDINATE && lon !== UNDEFINED_COORDINATE
  nodes.ids[row] = readZigzag(bytes, 1, 'id')
  nodes.lat[row] = defined ? lat : UNDEFINED_COORDINATE
  nodes.lon[row] = defined ? lon : UNDEFINED_COORDINATE
  nodes.count = row + 1
  addTags(bytes, nodes, row, block.strings.size)
}

function decodeWay(bytes: Uint8Array, pos: number, end: number, block: BlockColumns, scale: Scale): void {
  scanFields(bytes, pos, end)
  const [refField, latField, lonField] = [8, 9, 10]
  const ways = block.ways
  const row = ways.count
  block.reserveWays(row + 1)
  const first = ways.refOffsets[row]!
  let last = first
  if (hasBytes(refField)) {
    const most = first + fieldEnd[refField]! - fieldStart[refField]!
    if (most > ways.refs.length) block.reserveRefs(most)
    last = readDeltas(bytes, fieldStart[refField]!, fieldEnd[refField]!, ways.refs, first)
  }
  const located = hasBytes(latField) && hasBytes(lonField)
  if (located || ways.hasLocations) block.startLocations(first, last)
  if (located) readLocations(bytes, lonField, latField, ways.refLon, ways.refLat, first, last - first, scale)
  ways.ids[row] = readSigned(bytes, 1, 'id')
  ways.refOffsets[row + 1] = last
  ways.count = row + 1
  addTags(bytes, ways, row, block.strings.size)
}

function decodeRelation(bytes: Uint8Array, pos: number, end: number, block: BlockColumns): void {
  scanFields(bytes, pos, end)
  const [roleField, refField, typeField] = [8, 9, 10]
  const relations = block.relations
  const row = relations.count
  block.reserveRelations(row + 1)
  const first = relations.memberOffsets[row]!
  let members = 0
  if (hasBytes(refField) && hasBytes(roleField) && hasBytes(typeField)) {
    members = countVarints(bytes, fieldStart[refField]!, fieldEnd[refField]!)
    const roles = countVarints(bytes, fieldStart[roleField]!, fieldEnd[roleField]!)
    const types = fieldEnd[typeField]! - fieldStart[typeField]!
    if (roles !== members || types !== members) throw unevenMembers()
    block.reserveMembers(first + members)
    readDeltas(bytes, fieldStart[refField]!, fieldEnd[refField]!, relations.memberRefs, first)
    readUnsigned(bytes, fieldStart[roleField]!, fieldEnd[roleField]!, relations.memberRoles, first)
    checkMembers(bytes, fieldStart[typeField]!, block, first, members)
  } else if (hasBytes(refField) || hasBytes(roleField) || hasBytes(typeField)) throw unevenMembers()
  relations.ids[row] = readSigned(bytes, 1, 'id')
  relations.memberOffsets[row + 1] = first + members
  relations.count = row + 1
  addTags(bytes, relations, row, block.strings.size)
}

function checkMembers(bytes: Uint8Array, types: number, block: BlockColumns, first: number, members: number): void {
  const { memberTypes, memberRoles } = block.relations
  const size = block.strings.size
  for (let i = 0; i < members; i++) {
    const type = bytes[types + i]!
    if (type > 2) throw osmMalformed({ what: `a relation has a member of type ${type}` })
    if (memberRoles[first + i]! >= size) throw osmMalformed({ what: 'a role is not in the string table' })
    memberTypes[first + i] = type
  }
}

/** Adds the tags that fields 2 (keys) and 3 (values) of the scanned element hold. */
function addTags(bytes: Uint8Array, columns: TagColumns, row: number, strings: number): void {
  let pair = columns.tagOffsets[row]!
  const hasKeys = hasBytes(2)
  if (hasKeys !== hasBytes(3)) throw unevenTags()
  if (hasKeys) {
    let k = fieldStart[2]!
    let v = fieldStart[3]!
    const keysEnd = fieldEnd[2]!
    const valuesEnd = fieldEnd[3]!
    if ((pair + keysEnd - k) * 2 > columns.tags.length) reserveTags(columns, pair + keysEnd - k)
    const tags = columns.tags
    while (k < keysEnd && v < valuesEnd) {
      let byte = bytes[k++]!
      let key = byte & 127
      for (let shift = 7; byte >= 128; shift += 7) {
        if (k >= keysEnd || shift > 28) throw badTag()
        byte = bytes[k++]!
        key |= (byte & 127) << shift
      }
      byte = bytes[v++]!
      let value = byte & 127
      for (let shift = 7; byte >= 128; shift += 7) {
        if (v >= valuesEnd || shift > 28) throw badTag()
        byte = bytes[v++]!
        value |= (byte & 127) << shift
      }
      if (key >>> 0 >= strings || value >>> 0 >= strings) throw badTag()
      tags[pair * 2] = key
      tags[pair * 2 + 1] = value
      pair++
    }
    if (k !== keysEnd || v !== valuesEnd) throw unevenTags()
  }
  columns.tagOffsets[row + 1] = pair
}

/** Reads the coordinates of two packed fields into rows `at .. at + count`. */
function readLocations(
  bytes: Uint8Array,
  lonField: number,
  latField: number,
  lon: Int32Array,
  lat: Int32Array,
  at: number,
  count: number,
  scale: Scale,
): void {
  const inLon = readCoordinates(bytes, lonField, lon, at, count, scale.granularity, scale.lonOffset, MAX_LON)
  const inLat = readCoordinates(bytes, latField, lat, at, count, scale.granularity, scale.latOffset, MAX_LAT)
  if (inLon && inLat) return
  for (let i = at; i < at + count; i++) {
    if (lon[i] === UNDEFINED_COORDINATE || lat[i] === UNDEFINED_COORDINATE) lon[i] = lat[i] = UNDEFINED_COORDINATE
  }
}

/** Reads `count` coordinates; false when one of them is outside the Earth (and so undefined). */
function readCoordinates(
  bytes: Uint8Array,
  field: number,
  out: Int32Array,
  at: number,
  count: number,
  granularity: number,
  offset: number,
  limit: number,
): boolean {
  const start = fieldStart[field]!
  const end = fieldEnd[field]!
  // Each coordinate takes at least a byte; the arrays have room for as many as there are ids.
  if (end - start < count) throw unevenLocations()
  if (granularity === 100 && offset === 0) {
    if (readSmallDeltas(bytes, start, end, out, at, limit) === at + count) return true
  }
  if (countVarints(bytes, start, end) !== count) throw unevenLocations()
  if (scratch.length < count) scratch = new Float64Array(count * 2)
  readDeltas(bytes, start, end, scratch, 0)
  let inside = true
  for (let i = 0; i < count; i++) {
    const value = coordinate(scratch[i]!, granularity, offset, limit)
    if (value === UNDEFINED_COORDINATE) inside = false
    out[at + i] = value
  }
  return inside
}

function coordinate(value: number, granularity: number, offset: number, limit: number): number {
  const scaled = Math.round((offset + granularity * value) / 100)
  return scaled >= -limit && scaled <= limit ? scaled : UNDEFINED_COORDINATE
}

function unevenLocations(): Error {
  return osmMalformed({ what: 'ids and coordinates differ in number' })
}

function badTag(): Error {
  return osmMalformed({ what: 'a tag is not in the string table' })
}

function unevenTags(): Error {
  return osmMalformed({ what: 'tag keys and values of an element differ in number' })
}

function unevenMembers(): Error {
  return osmMalformed({ what: 'members, types and roles of a relation differ in number' })
}
