import type { RasterLevel, SampleType, Samples } from '../raster-info.ts'
import { swapBytes } from './platform.ts'
import type { RowLayout } from './predictor.ts'
import { undoFloatDifferencing, undoHorizontalDifferencing } from './predictor.ts'

/** Bytes of one decoded sample. */
export const SAMPLE_BYTES: Readonly<Record<SampleType, number>> = {
  uint8: 1,
  int8: 1,
  uint16: 2,
  int16: 2,
  uint32: 4,
  int32: 4,
  float32: 4,
  float64: 8,
}

/** Stored bytes of one row of samples; rows start on a byte. */
export function storedRowBytes(rowSamples: number, bitsPerSample: number): number {
  return Math.ceil((rowSamples * bitsPerSample) / 8)
}

/**
 * Turns the decompressed bytes of a block into native samples: byte order, predictor, bit packing, half floats. The
 * bytes are changed in place, and the samples may share their memory.
 */
export function toSamples(bytes: Uint8Array, level: RasterLevel, layout: RowLayout): Samples {
  const { bitsPerSample: bits, sampleType, predictor, littleEndian } = level
  const count = layout.rows * layout.rowSamples
  if (bits !== 8 && bits !== 16 && bits !== 32 && bits !== 64) {
    return bits === 24 && !littleEndian ? unpackReversedTriples(bytes, count) : unpackBits(bytes, bits, layout)
  }
  const sampleBytes = bits / 8
  const own = alignTo(bytes, sampleBytes)
  if (predictor === 3) undoFloatDifferencing(own, layout, sampleBytes)
  else if (!littleEndian) swapBytes(own, count, sampleBytes)
  const half = sampleType === 'float32' && bits === 16
  const samples = viewAs(half ? 'uint16' : sampleType, own, count)
  if (predictor === 2) undoHorizontalDifferencing(samples, layout)
  return half ? widenHalfFloats(samples) : samples
}

/** New samples of a type, all zero. */
export function allocateSamples(type: SampleType, count: number): Samples {
  switch (type) {
    case 'uint8':
      return new Uint8Array(count)
    case 'int8':
      return new Int8Array(count)
    case 'uint16':
      return new Uint16Array(count)
    case 'int16':
      return new Int16Array(count)
    case 'uint32':
      return new Uint32Array(count)
    case 'int32':
      return new Int32Array(count)
    case 'float32':
      return new Float32Array(count)
    case 'float64':
      return new Float64Array(count)
  }
}

function viewAs(type: SampleType, { buffer, byteOffset }: Uint8Array, count: number): Samples {
  switch (type) {
    case 'uint8':
      return new Uint8Array(buffer, byteOffset, count)
    case 'int8':
      return new Int8Array(buffer, byteOffset, count)
    case 'uint16':
      return new Uint16Array(buffer, byteOffset, count)
    case 'int16':
      return new Int16Array(buffer, byteOffset, count)
    case 'uint32':
      return new Uint32Array(buffer, byteOffset, count)
    case 'int32':
      return new Int32Array(buffer, byteOffset, count)
    case 'float32':
      return new Float32Array(buffer, byteOffset, count)
    case 'float64':
      return new Float64Array(buffer, byteOffset, count)
  }
}

function alignTo(bytes: Uint8Array, sampleBytes: number): Uint8Array {
  return bytes.byteOffset % sampleBytes === 0 ? bytes : new Uint8Array(bytes)
}

/** Samples of other sizes in bits, packed from the most significant bit, regardless of the byte order of the file. */
function unpackBits(bytes: Uint8Array, bits: number, { rows, rowSamples }: RowLayout): Samples {
  const samples = allocateSamples(bits < 8 ? 'uint8' : bits < 16 ? 'uint16' : 'uint32', rows * rowSamples)
  const rowBytes = storedRowBytes(rowSamples, bits)
  for (let row = 0; row < rows; row++) {
    let at = row * rowBytes
    let held = 0
    let value = 0
    for (let i = row * rowSamples, end = i + rowSamples; i < end; i++) {
      let needed = bits
      let sample = 0
      while (needed > 0) {
        if (held === 0) {
          value = bytes[at++] as number
          held = 8
        }
        const taken = Math.min(needed, held)
        held -= taken
        needed -= taken
        sample = sample * (1 << taken) + ((value >> held) & ((1 << taken) - 1))
      }
      samples[i] = sample
    }
  }
  return samples
}

/** In big-endian files, libtiff swaps the bytes of 24-bit samples, which are packed from the most significant bit. */
function unpackReversedTriples(bytes: Uint8Array, count: number): Uint32Array {
  const samples = new Uint32Array(count)
  for (let i = 0, at = 0; i < count; i++, at += 3) {
    samples[i] = (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16)
  }
  return samples
}

/** IEEE 754 binary16 to binary32, exact. */
function widenHalfFloats(halves: Samples): Float32Array {
  const floats = new Float32Array(halves.length)
  for (let i = 0; i < halves.length; i++) {
    const half = halves[i] as number
    const size = halfSize((half >> 10) & 31, half & 1023)
    floats[i] = half & 0x8000 ? -size : size
  }
  return floats
}

function halfSize(exponent: number, fraction: number): number {
  if (exponent === 0) return fraction * 2 ** -24
  if (exponent < 31) return (fraction + 1024) * 2 ** (exponent - 25)
  return fraction === 0 ? Infinity : Number.NaN
}
