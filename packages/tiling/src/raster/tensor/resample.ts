/** Resamples one plane; created once per pair of sizes. */
export type PlaneResampler = (from: Float32Array, to: Float32Array) => void

interface Size {
  readonly width: number
  readonly height: number
}

/**
 * Separable triangle filter: bilinear when enlarging, widened by the scale when reducing, to avoid aliasing. The filter
 * of Pillow's BILINEAR and torchvision's antialiased resize.
 */
export function createResampler(from: Size, to: Size): PlaneResampler {
  const across = filterOf(from.width, to.width)
  const down = filterOf(from.height, to.height)
  const narrowed = new Float32Array(to.width * from.height)
  return (source, target) => {
    for (let y = 0; y < from.height; y++) applyFilter(across, source, y * from.width, 1, narrowed, y * to.width, 1)
    for (let x = 0; x < to.width; x++) applyFilter(down, narrowed, x, to.width, target, x, to.width)
  }
}

/** For each output the first input, and the weights of a fixed number of inputs from there. */
interface Filter {
  readonly outputs: number
  readonly taps: number
  readonly firsts: Int32Array
  readonly weights: Float64Array
}

function filterOf(inputs: number, outputs: number): Filter {
  const scale = inputs / outputs
  const radius = Math.max(1, scale)
  const taps = Math.min(inputs, Math.ceil(2 * radius) + 1)
  const firsts = new Int32Array(outputs)
  const weights = new Float64Array(outputs * taps)
  for (let output = 0; output < outputs; output++) {
    const center = (output + 0.5) * scale
    const first = Math.max(0, Math.min(inputs - taps, Math.ceil(center - radius - 0.5)))
    firsts[output] = first
    let sum = 0
    for (let tap = 0; tap < taps; tap++) {
      const weight = Math.max(0, 1 - Math.abs(first + tap + 0.5 - center) / radius)
      weights[output * taps + tap] = weight
      sum += weight
    }
    for (let tap = 0; tap < taps; tap++) weights[output * taps + tap] = (weights[output * taps + tap] as number) / sum
  }
  return { outputs, taps, firsts, weights }
}

function applyFilter(
  { outputs, taps, firsts, weights }: Filter,
  from: Float32Array,
  fromStart: number,
  fromStep: number,
  to: Float32Array,
  toStart: number,
  toStep: number,
): void {
  for (let output = 0; output < outputs; output++) {
    const first = fromStart + (firsts[output] as number) * fromStep
    let sum = 0
    for (let tap = 0; tap < taps; tap++) {
      sum += (weights[output * taps + tap] as number) * (from[first + tap * fromStep] as number)
    }
    to[toStart + output * toStep] = sum
  }
}
