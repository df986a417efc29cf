import { osmMalformed } from '../errors.ts'
import { BYTES, FIXED32, FIXED64, VARINT, readDeltas, readSignedVarint } from './wire.ts'

const FIELDS = 16

/**
 * Start and end of fields 1 to 15 in the last scanned message: one scan at a time, without an allocation per element. A
 * length-delimited field is its content, a varint field its varint.
 */
export const fieldStart = new Uint32Array(FIELDS)
export const fieldEnd = new Uint32Array(FIELDS)

/** Scan number times 8 plus wire type of each field; an older scan number means that the field is absent. */
const fieldMark = new Float64Array(FIELDS)
let scan = 0
const one = new Float64Array(1)

/** Finds fields of a protobuf message. @throws OSM_MALFORMED when one runs past the message or occurs twice */
export function scanFields(bytes: Uint8Array, pos: number, end: number): void {
  scan += 8
  while (pos < end) {
    let byte = bytes[pos++]!
    let key = byte & 127
    for (let shift = 7; byte >= 128; shift += 7) {
      if (pos >= end || shift > 28) throw pastMessage()
      byte = bytes[pos++]!
      key |= (byte & 127) << shift
    }
    const field = key >>> 3
    const type = key & 7
    let start = pos
    if (type === BYTES) {
      let length = 0
      let shift = 0
      do {
        if (pos >= end || shift > 28) throw pastMessage()
        byte = bytes[pos++]!
        length |= (byte & 127) << shift
        shift += 7
      } while (byte >= 128)
      start = pos
      pos += length >>> 0
    } else if (type === VARINT) {
      while (pos < end && bytes[pos]! >= 128) pos++
      pos++
    } else if (type === FIXED64) pos += 8
    else if (type === FIXED32) pos += 4
    else throw osmMalformed({ what: `protobuf wire type ${type} is unknown` })
    if (pos > end) throw pastMessage()
    if (field < FIELDS) {
      if (fieldMark[field]! >= scan)
        throw osmMalformed({ what: `protobuf field ${field} is given twice in an element` })
      fieldMark[field] = scan + type
      fieldStart[field] = start
      fieldEnd[field] = pos
    }
  }
}

/** True when the scanned message has the length-delimited field; another wire type there is an error. */
export function hasBytes(field: number): boolean {
  const mark = fieldMark[field]!
  if (mark < scan) return false
  if (mark !== scan + BYTES) throw osmMalformed({ what: `protobuf field ${field} is not packed` })
  return true
}

/** The zig-zag varint of a field of the scanned message. */
export function readZigzag(bytes: Uint8Array, field: number, name: string): number {
  requireVarint(field, name)
  readDeltas(bytes, fieldStart[field]!, fieldEnd[field]!, one, 0)
  return one[0]!
}

/** The two's complement varint of a field of the scanned message. */
export function readSigned(bytes: Uint8Array, field: number, name: string): number {
  requireVarint(field, name)
  const value = readSignedVarint(bytes, fieldStart[field]!, fieldEnd[field]!)
  if (!Number.isSafeInteger(value)) throw osmMalformed({ what: `an ${name} is beyond 2^53` })
  return value
}

function requireVarint(field: number, name: string): void {
  if (fieldMark[field] !== scan + VARINT) throw osmMalformed({ what: `an element has no ${name}` })
}

function pastMessage(): Error {
  return osmMalformed({ what: 'a protobuf field runs past its message' })
}
