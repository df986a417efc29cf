import type { FixtureType } from './spec.ts'

const DATA_TYPES: Partial<Record<FixtureType, number>> = {
  int8: 0,
  uint8: 1,
  int16: 2,
  uint16: 3,
  int32: 4,
  uint32: 5,
  float32: 6,
  float64: 7,
}

/** A lossless LERC2 blob (version 2) of one band, NaN without a value. Source: the public reference decoder. */
export function encodeLerc(
  values: ArrayLike<number>,
  size: { width: number; height: number },
  type: FixtureType,
): Uint8Array {
  const dataType = DATA_TYPES[type]
  if (dataType === undefined) throw new TypeError(`LERC has no ${type}`)
  const { width, height } = size
  const present = Array.from({ length: width * height }, (_, i) => !Number.isNaN(values[i]))
  const valid = Array.from(values).filter((value) => !Number.isNaN(value))
  const mask = valid.length === present.length ? new Uint8Array(0) : runLengths(packBitsOf(present))
  const sweep = typedBytes(valid, type)
  const head = Buffer.alloc(58)
  head.write('Lerc2 ', 'latin1')
  const total = head.length + 4 + mask.length + (valid.length === 0 ? 0 : 1 + sweep.length)
  const integers = [2, height, width, valid.length, 8, total, dataType]
  integers.forEach((value, i) => head.writeInt32LE(value, 6 + 4 * i))
  const low = valid.length === 0 ? 0 : valid.reduce((a, b) => Math.min(a, b))
  const high = valid.length === 0 ? 0 : valid.reduce((a, b) => Math.max(a, b))
  const reals = [type.startsWith('float') ? 0 : 0.5, low, high]
  reals.forEach((value, i) => head.writeDoubleLE(value, 34 + 8 * i))
  const maskLength = Buffer.alloc(4)
  maskLength.writeInt32LE(mask.length)
  const constant = low === high
  const parts = [head, maskLength, mask]
  if (valid.length > 0 && !constant) parts.push(Uint8Array.of(1), sweep)
  const blob = Buffer.concat(parts)
  blob.writeInt32LE(blob.length, 26)
  return blob
}

function packBitsOf(flags: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array(Math.ceil(flags.length / 8))
  flags.forEach((flag, i) => {
    if (flag) bytes[i >> 3] = (bytes[i >> 3] as number) | (0x80 >> (i & 7))
  })
  return bytes
}

/** LERC's run-length code: a positive count of literal bytes each time, ended by -32768. */
function runLengths(bytes: Uint8Array): Uint8Array {
  const parts: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += 1000) {
    const literal = bytes.subarray(at, at + 1000)
    const count = Buffer.alloc(2)
    count.writeInt16LE(literal.length)
    parts.push(count, literal)
  }
  return Buffer.concat([...parts, Uint8Array.of(0x00, 0x80)])
}

function typedBytes(values: readonly number[], type: FixtureType): Uint8Array {
  const arrays = {
    int8: Int8Array,
    uint8: Uint8Array,
    int16: Int16Array,
    uint16: Uint16Array,
    int32: Int32Array,
    uint32: Uint32Array,
    float16: Float32Array,
    float32: Float32Array,
    float64: Float64Array,
  }
  return new Uint8Array(arrays[type].from(values).buffer)
}
