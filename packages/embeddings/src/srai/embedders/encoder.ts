import type { SparseCounts } from './sparse-counts.ts'

/** One layer: `out = in · weights + bias`; weights `[inputs, outputs]`. */
interface Layer {
  readonly inputs: number
  readonly outputs: number
  readonly weights: Parameter
  readonly bias: Parameter
}

/** Learned numbers, with their gradient and Adam's two moments. */
class Parameter {
  readonly value: Float64Array
  readonly gradient: Float64Array
  readonly #mean: Float64Array
  readonly #square: Float64Array

  constructor(length: number) {
    this.value = new Float64Array(length)
    this.gradient = new Float64Array(length)
    this.#mean = new Float64Array(length)
    this.#square = new Float64Array(length)
  }

  /** One step of Adam (Kingma and Ba 2015) against the gradient, which is cleared. */
  step(rate: number, count: number): void {
    const { value, gradient } = this
    const mean = this.#mean
    const square = this.#square
    const meanScale = 1 / (1 - 0.9 ** count)
    const squareScale = 1 / (1 - 0.999 ** count)
    for (let i = 0; i < value.length; i++) {
      const g = gradient[i]!
      const m = 0.9 * mean[i]! + 0.1 * g
      const s = 0.999 * square[i]! + 0.001 * g * g
      mean[i] = m
      square[i] = s
      value[i]! -= (rate * m * meanScale) / (Math.sqrt(s * squareScale) + 1e-8)
    }
    gradient.fill(0)
  }
}

/** The values of all layers for one row, kept for the backward pass. */
export interface Activations {
  readonly row: number
  readonly layers: readonly Float64Array[]
}

/**
 * A multi-layer perceptron over sparse rows: rectified hidden layers, a linear last one. The first layer touches only
 * the columns that a row has.
 */
export class Encoder {
  /** All learned parameters. */
  readonly parameters: readonly Parameter[]
  readonly #counts: SparseCounts
  readonly #layers: readonly Layer[]
  #steps = 0

  /** Weights and biases start uniform within ±1/√inputs. */
  constructor(counts: SparseCounts, sizes: readonly number[], random: () => number) {
    this.#counts = counts
    this.#layers = sizes.map((outputs, i): Layer => {
      const inputs = i === 0 ? counts.names.length : sizes[i - 1]!
      const bound = 1 / Math.sqrt(inputs)
      const layer = { inputs, outputs, weights: new Parameter(inputs * outputs), bias: new Parameter(outputs) }
      for (const { value } of [layer.weights, layer.bias]) {
        for (let at = 0; at < value.length; at++) value[at] = (random() * 2 - 1) * bound
      }
      return layer
    })
    this.parameters = this.#layers.flatMap(({ weights, bias }) => [weights, bias])
  }

  /** Length of an embedding. */
  get dims(): number {
    return this.#layers.at(-1)!.outputs
  }

  /** Working memory for encoding one row. */
  allocate(): { row: number; layers: Float64Array[] } {
    return { row: -1, layers: this.#layers.map(({ outputs }) => new Float64Array(outputs)) }
  }

  forward(row: number, into: { row: number; layers: readonly Float64Array[] }): Float64Array {
    into.row = row
    for (const [l, layer] of this.#layers.entries()) {
      const out = into.layers[l]!
      out.set(layer.bias.value)
      if (l === 0) this.#forwardSparse(row, layer, out)
      else forwardDense(into.layers[l - 1]!, layer, out)
      if (l + 1 < this.#layers.length) rectify(out)
    }
    return into.layers.at(-1)!
  }

  /** Adds the gradient of a row to the parameters; `gradients` hold the last layer's, the others are overwritten. */
  backward({ row, layers }: Activations, gradients: readonly Float64Array[]): void {
    for (let l = this.#layers.length - 1; l >= 0; l--) {
      const layer = this.#layers[l]!
      const gradient = gradients[l]!
      for (let o = 0; o < gradient.length; o++) layer.bias.gradient[o]! += gradient[o]!
      if (l === 0) this.#backwardSparse(row, layer, gradient)
      else backwardDense(layers[l - 1]!, layer, gradient, gradients[l - 1]!)
    }
  }

  /** Moves all parameters against the gradients of the batch. */
  step(rate: number): void {
    this.#steps++
    for (const parameter of this.parameters) parameter.step(rate, this.#steps)
  }

  #forwardSparse(row: number, { outputs, weights }: Layer, out: Float64Array): void {
    const { rowStart, columns, values } = this.#counts
    for (let at = rowStart[row]!; at < rowStart[row + 1]!; at++) {
      const value = values[at]!
      const start = columns[at]! * outputs
      for (let o = 0; o < outputs; o++) out[o]! += value * weights.value[start + o]!
    }
  }

  #backwardSparse(row: number, { outputs, weights }: Layer, gradient: Float64Array): void {
    const { rowStart, columns, values } = this.#counts
    for (let at = rowStart[row]!; at < rowStart[row + 1]!; at++) {
      const value = values[at]!
      const start = columns[at]! * outputs
      for (let o = 0; o < outputs; o++) weights.gradient[start + o]! += value * gradient[o]!
    }
  }
}

function forwardDense(input: Float64Array, { inputs, outputs, weights }: Layer, out: Float64Array): void {
  for (let i = 0; i < inputs; i++) {
    const value = input[i]!
    if (value === 0) continue // rectified away: about half of them
    const start = i * outputs
    for (let o = 0; o < outputs; o++) out[o]! += value * weights.value[start + o]!
  }
}

function backwardDense(
  input: Float64Array,
  { inputs, outputs, weights }: Layer,
  gradient: Float64Array,
  inputGradient: Float64Array,
): void {
  for (let i = 0; i < inputs; i++) {
    const value = input[i]!
    inputGradient[i] = 0
    if (value === 0) continue // rectified away: no gradient passes
    const start = i * outputs
    let sum = 0
    for (let o = 0; o < outputs; o++) {
      sum += gradient[o]! * weights.value[start + o]!
      weights.gradient[start + o]! += value * gradient[o]!
    }
    inputGradient[i] = sum
  }
}

function rectify(values: Float64Array): void {
  for (let i = 0; i < values.length; i++) if (values[i]! < 0) values[i] = 0
}
