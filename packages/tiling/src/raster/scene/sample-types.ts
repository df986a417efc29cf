import type { SampleType, Samples } from '../raster-info.ts'
import { allocateSamples } from '../decode/samples.ts'

/** Number of bits and sign of the integer types. */
const WHOLE: Readonly<Partial<Record<SampleType, readonly [bits: number, signed: boolean]>>> = {
  uint8: [8, false],
  int8: [8, true],
  uint16: [16, false],
  int16: [16, true],
  uint32: [32, false],
  int32: [32, true],
}

/** The smallest type that holds all values of some types. */
export function commonType(types: readonly SampleType[]): SampleType {
  return types.reduce(wider)
}

function wider(a: SampleType, b: SampleType): SampleType {
  if (a === b) return a
  const [one, two] = [WHOLE[a], WHOLE[b]]
  if (one === undefined || two === undefined) {
    const isWide = [a, b].some((type) => type === 'float64' || type === 'uint32' || type === 'int32')
    return isWide ? 'float64' : 'float32'
  }
  const signed = one[1] || two[1]
  // An unsigned type combined with a signed one needs one more bit.
  const bits = Math.max(...[one, two].map(([size, has]) => (signed && !has ? size + 1 : size)))
  if (bits > 32) return 'float64'
  const size = bits <= 8 ? 8 : bits <= 16 ? 16 : 32
  return `${signed ? '' : 'u'}int${size}` as SampleType
}

/** Converts numbers to samples. Integers are rounded half away from zero and clamped, as in GDAL. */
export function samplesOf(values: Float64Array, type: SampleType): Samples {
  const samples = allocateSamples(type, values.length)
  const rounded = Float64Array.from(values)
  roundTo(rounded, type)
  samples.set(rounded)
  return samples
}

/**
 * Rounds numbers to an integer type in place: half away from zero, and clamped to the bits that are used. Other types are
 * unchanged.
 *
 * @param usedBits bits of an unsigned sample; all bits of the type when absent
 */
export function roundTo(values: Float32Array | Float64Array, type: SampleType, usedBits?: number): void {
  const whole = WHOLE[type]
  if (whole === undefined) return
  const signed = whole[1]
  const bits = signed ? whole[0] : Math.min(whole[0], usedBits ?? whole[0])
  const low = signed ? -(2 ** (bits - 1)) : 0
  const high = low + 2 ** bits - 1
  for (let i = 0; i < values.length; i++) {
    const value = values[i] as number
    const rounded = value < 0 ? Math.ceil(value - 0.5) : Math.floor(value + 0.5)
    values[i] = rounded < low ? low : rounded > high ? high : rounded
  }
}
