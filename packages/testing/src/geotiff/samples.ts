import type { FixtureType } from './spec.ts'

const BYTES: Readonly<Record<FixtureType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float16: 2,
  float32: 4,
  float64: 8,
}

/** A block of samples: `rows` rows of `rowSamples`, `step` of them to a pixel. */
export interface BlockLayout {
  readonly rows: number
  readonly rowSamples: number
  readonly step: number
}

export interface SampleCoding {
  readonly type: FixtureType
  readonly bits: number
  readonly predictor: 1 | 2 | 3
  readonly littleEndian: boolean
}

/** Bits that the type stores when none are named. */
export function bitsOf(type: FixtureType): number {
  return 8 * BYTES[type]
}

/** The bytes of a block before compression: predictor, packing, byte order. */
export function encodeSamples(values: ArrayLike<number>, layout: BlockLayout, coding: SampleCoding): Uint8Array {
  const { type, bits, predictor, littleEndian } = coding
  if (bits !== bitsOf(type)) return pack(values, layout, coding)
  const size = BYTES[type]
  const bytes = new Uint8Array(values.length * size)
  const view = new DataView(bytes.buffer)
  const littleInMemory = littleEndian && predictor !== 3
  if (size === 1) bytes.set(values)
  else for (let i = 0; i < values.length; i++) store(view, i * size, type, values[i] as number, littleInMemory)
  if (predictor === 2) differ(view, layout, size, littleEndian)
  return predictor === 3 ? differByPlanes(bytes, layout, size) : bytes
}

function store(view: DataView, at: number, type: FixtureType, value: number, littleEndian: boolean): void {
  switch (type) {
    case 'uint8':
    case 'int8':
      return view.setUint8(at, value)
    case 'uint16':
      return view.setUint16(at, value, littleEndian)
    case 'int16':
      return view.setInt16(at, value, littleEndian)
    case 'uint32':
      return view.setUint32(at, value, littleEndian)
    case 'int32':
      return view.setInt32(at, value, littleEndian)
    case 'float16':
      return view.setUint16(at, halfOf(value), littleEndian)
    case 'float32':
      return view.setFloat32(at, value, littleEndian)
    case 'float64':
      return view.setFloat64(at, value, littleEndian)
  }
}

/** The nearest half float towards zero; exact for values with a half float. */
function halfOf(value: number): number {
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0
  const size = Math.abs(value)
  if (Number.isNaN(value)) return 0x7e00
  if (size === 0) return sign
  if (size >= 65520) return sign | 0x7c00
  const exponent = Math.max(-14, Math.floor(Math.log2(size)))
  const fraction = Math.floor(size / 2 ** (exponent - 10))
  return sign | (fraction < 1024 ? fraction : ((exponent + 15) << 10) + fraction - 1024)
}

function differ(view: DataView, { rows, rowSamples, step }: BlockLayout, size: number, littleEndian: boolean): void {
  for (let row = 0; row < rows; row++) {
    for (let i = (row + 1) * rowSamples - 1; i >= row * rowSamples + step; i--) {
      const [at, before] = [i * size, (i - step) * size]
      if (size === 1) view.setUint8(at, view.getUint8(at) - view.getUint8(before))
      else if (size === 2)
        view.setUint16(at, view.getUint16(at, littleEndian) - view.getUint16(before, littleEndian), littleEndian)
      else if (size === 4)
        view.setUint32(at, view.getUint32(at, littleEndian) - view.getUint32(before, littleEndian), littleEndian)
      else
        view.setBigUint64(
          at,
          view.getBigUint64(at, littleEndian) - view.getBigUint64(before, littleEndian),
          littleEndian,
        )
    }
  }
}

/** Big-endian samples, split into one plane per byte and then differenced, row by row. */
function differByPlanes(bytes: Uint8Array, { rows, rowSamples, step }: BlockLayout, size: number): Uint8Array {
  const result = new Uint8Array(bytes.length)
  const rowBytes = rowSamples * size
  for (let row = 0; row < rows; row++) {
    const start = row * rowBytes
    for (let i = 0; i < rowSamples; i++) {
      for (let byte = 0; byte < size; byte++) {
        result[start + byte * rowSamples + i] = bytes[start + i * size + byte] as number
      }
    }
    for (let i = rowBytes - 1; i >= step; i--) {
      result[start + i] = (result[start + i] as number) - (result[start + i - step] as number)
    }
  }
  return result
}

/** Bits from the most significant one on; rows start on a byte. */
function pack(
  values: ArrayLike<number>,
  { rows, rowSamples }: BlockLayout,
  { bits, littleEndian }: SampleCoding,
): Uint8Array {
  const rowBytes = Math.ceil((rowSamples * bits) / 8)
  const bytes = new Uint8Array(rowBytes * rows)
  for (let row = 0; row < rows; row++) {
    for (let i = 0; i < rowSamples; i++) {
      const value = values[row * rowSamples + i] as number
      for (let bit = 0; bit < bits; bit++) {
        if (Math.floor(value / 2 ** (bits - 1 - bit)) % 2 === 0) continue
        const at = i * bits + bit
        const byte = row * rowBytes + (at >> 3)
        bytes[byte] = (bytes[byte] as number) | (0x80 >> (at & 7))
      }
    }
  }
  // libtiff swaps words of 24 bits with the byte order.
  if (bits === 24 && !littleEndian) for (let i = 0; i + 2 < bytes.length; i += 3) bytes.subarray(i, i + 3).reverse()
  return bytes
}
