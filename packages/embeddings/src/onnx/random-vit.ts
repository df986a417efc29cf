import { seededRandom } from '@terrane/core'

import { type ExternalData, OnnxGraph, type Value } from './graph.ts'

/** The shape of a vision transformer. */
export interface VitShape {
  readonly dim: number
  readonly depth: number
  readonly heads: number
  readonly patch: number
  readonly registers: number
}

/** The shape of DINOv3's ViT-S/16 (ViT-L/16 is 1024, 24, 16). */
export const VIT_SMALL: VitShape = { dim: 384, depth: 12, heads: 6, patch: 16, registers: 4 }

/** Standard deviation of the weights; it keeps the values in blocks near 1. */
const DEVIATION = 0.02
/** Clipping limit of quantized activations, which normalised ones hardly reach. */
const REACH = 6

interface Context extends VitShape {
  readonly graph: OnnxGraph
  /** Seeded random weights of the given standard deviation. */
  readonly weights: (shape: readonly number[], deviation?: number) => Value
  /** A matrix of such weights, to be multiplied with. */
  readonly matrix: (rows: number, columns: number) => Value
  /** Prepares the operand of a matrix product. */
  readonly operand: (value: Value) => Value
  readonly filled: (count: number, value: number) => Value
}

/**
 * Builds a vision transformer with random weights and the inputs and outputs of DINOv3's ONNX exports, for tests and
 * benches that do not depend on meaningful embeddings: `pixel_values` `[batch, 3, height, width]` → `last_hidden_state`
 * `[batch, 1 + registers + patches, dim]` (CLS, registers, patches row by row) and `pooler_output` `[batch, dim]`. Same
 * seed, same bytes. It has no position encoding.
 *
 * @param numbers `int8`: products with weights are quantized as static exports quantize them (QuantizeLinear and
 * DequantizeLinear around both operands), which the runtime computes in integers
 */
export function buildRandomVit(
  shape: VitShape,
  seed: number,
  external: ExternalData | null = null,
  numbers: 'float32' | 'int8' = 'float32',
): Uint8Array {
  const graph = new OnnxGraph('random-vit', external)
  const random = seededRandom(seed)
  const drawn = (count: number, deviation: number): Float32Array =>
    Float32Array.from({ length: count }, () => (random() - 0.5) * deviation * 3.46)
  const context: Context = {
    ...shape,
    graph,
    weights: (dims, deviation = DEVIATION) =>
      graph.floats(dims, drawn(dims.reduce((product, size) => product * size, 1), deviation)), // prettier-ignore
    matrix: (rows, columns) => {
      const values = drawn(rows * columns, DEVIATION)
      return numbers === 'int8'
        ? quantizedMatrix(graph, [rows, columns], values)
        : graph.floats([rows, columns], values)
    },
    operand: (value) => (numbers === 'int8' ? quantized(graph, value) : value),
    filled: (count, value) => graph.floats([count], new Float32Array(count).fill(value)),
  }
  let tokens = embedPatches(context)
  for (let i = 0; i < shape.depth; i++) tokens = transformerBlock(context, tokens)
  const hidden = layerNorm(context, tokens)
  const first = graph.op('Slice', [hidden, graph.ints([0]), graph.ints([1]), graph.ints([1])])
  graph.output('last_hidden_state', ['batch', 'tokens', shape.dim], hidden)
  graph.output('pooler_output', ['batch', shape.dim], graph.op('Reshape', [first, graph.ints([-1, shape.dim])]))
  return graph.encode()
}

function embedPatches({ graph, weights, dim, patch, registers }: Context): Value {
  const pixels = graph.input('pixel_values', ['batch', 3, 'height', 'width'])
  const grid = graph.op('Conv', [pixels, weights([dim, 3, patch, patch], 0.05)], { strides: [patch, patch] })
  const columns = graph.op('Reshape', [grid, graph.ints([0, dim, -1])])
  const patches = graph.op('Transpose', [columns], { perm: [0, 2, 1] })
  const batch = graph.op('Slice', [graph.op('Shape', [pixels]), graph.ints([0]), graph.ints([1])])
  const target = graph.op('Concat', [batch, graph.ints([1 + registers, dim])], { axis: 0 })
  const prefix = graph.op('Expand', [weights([1, 1 + registers, dim], 1), target])
  return graph.op('Concat', [prefix, patches], { axis: 1 })
}

function transformerBlock(context: Context, tokens: Value): Value {
  const { graph, dim, matrix } = context
  const attended = residual(context, tokens, attention(context, layerNorm(context, tokens)))
  const wide = dense(context, layerNorm(context, attended), matrix(dim, 4 * dim))
  return residual(context, attended, dense(context, gelu(graph, wide), matrix(4 * dim, dim)))
}

function attention(context: Context, tokens: Value): Value {
  const { graph, dim, heads, matrix } = context
  const width = dim / heads
  const split = (perm: readonly number[]): Value => {
    const all = dense(context, tokens, matrix(dim, dim))
    return graph.op('Transpose', [graph.op('Reshape', [all, graph.ints([0, -1, heads, width])])], { perm })
  }
  const scale = graph.floats([], [1 / Math.sqrt(width)])
  const scores = graph.op('MatMul', [split([0, 2, 1, 3]), split([0, 2, 3, 1])])
  const shares = graph.op('Softmax', [graph.op('Mul', [scores, scale])], { axis: -1 })
  const mixed = graph.op('Transpose', [graph.op('MatMul', [shares, split([0, 2, 1, 3])])], { perm: [0, 2, 1, 3] })
  return dense(context, graph.op('Reshape', [mixed, graph.ints([0, -1, dim])]), matrix(dim, dim))
}

function residual({ graph, dim, filled }: Context, tokens: Value, change: Value): Value {
  return graph.op('Add', [tokens, graph.op('Mul', [change, filled(dim, 0.5)])])
}

function dense({ graph, operand }: Context, tokens: Value, weights: Value): Value {
  return graph.op('MatMul', [operand(tokens), weights])
}

function layerNorm({ graph, dim, filled }: Context, tokens: Value): Value {
  return graph.op('LayerNormalization', [tokens, filled(dim, 1), filled(dim, 0)], {
    axis: -1,
    epsilon: { float: 1e-5 },
  })
}

function gelu(graph: OnnxGraph, input: Value): Value {
  const erf = graph.op('Erf', [graph.op('Div', [input, graph.floats([], [Math.SQRT2])])])
  const gate = graph.op('Add', [erf, graph.floats([], [1])])
  return graph.op('Mul', [graph.op('Mul', [input, gate]), graph.floats([], [0.5])])
}

/** Weights of one scale around zero. */
function quantizedMatrix(graph: OnnxGraph, shape: readonly number[], values: Float32Array): Value {
  const scale = (DEVIATION * 3.46) / 2 / 127
  const levels = Int8Array.from(values, (value) => Math.round(value / scale))
  return graph.op('DequantizeLinear', [graph.int8s(shape, levels), graph.floats([], [scale])])
}

function quantized(graph: OnnxGraph, value: Value): Value {
  const [scale, zero] = [graph.floats([], [REACH / 127]), graph.byte(128)]
  return graph.op('DequantizeLinear', [graph.op('QuantizeLinear', [value, scale, zero]), scale, zero])
}
