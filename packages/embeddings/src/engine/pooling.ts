import type { Pooling } from '../models/manifest.ts'

/** A float32 output of a model. */
export interface OutputTensor {
  readonly dims: readonly number[]
  readonly data: Float32Array
}

export interface PoolingShape {
  readonly batch: number
  readonly dims: number
  /** Vectors wanted of each item. */
  readonly perTile: number
  /** Tokens before the patches. */
  readonly skip: number
}

/**
 * Reduces an output to `batch · perTile` vectors of `dims` numbers in `out`. Returns what shape it should have had, or
 * null when all is well.
 */
export function poolOutput(
  tensor: OutputTensor,
  pooling: Pooling | 'patches',
  shape: PoolingShape,
  out: Float32Array,
): string | null {
  const wanted = wantedDims(tensor.dims, pooling, shape)
  const fits = wanted.length === tensor.dims.length && wanted.every((size, axis) => size === tensor.dims[axis])
  if (!fits) return `[${wanted.join(', ')}]`
  const tokens = tensor.dims[1]!
  if (pooling === 'none') out.set(tensor.data)
  else if (pooling === 'mean-positions') averageRuns(tensor.data, tensor.dims[2]! * tensor.dims[3]!, out)
  else if (pooling === 'patches') copyPatches(tensor.data, shape, out)
  else averageTokens(tensor.data, { used: pooling === 'first-token' ? 1 : tokens, tokens }, shape, out)
  return null
}

/** The shape that the pooling needs; sizes that it takes as they come are taken from the actual shape. */
function wantedDims(actual: readonly number[], pooling: Pooling | 'patches', shape: PoolingShape): readonly number[] {
  const { batch, dims, perTile, skip } = shape
  if (pooling === 'none') return [batch, dims, ...actual.slice(2).map(() => 1)]
  if (pooling === 'mean-positions') return [batch, dims, actual[2] ?? 1, actual[3] ?? 1]
  if (pooling === 'patches') return [batch, skip + perTile, dims]
  return [batch, actual[1] ?? 1, dims]
}

/** Each `length` numbers become their mean. */
function averageRuns(values: Float32Array, length: number, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) {
    let sum = 0
    for (let j = i * length; j < (i + 1) * length; j++) sum += values[j]!
    out[i] = sum / length
  }
}

/** The mean of the first `used` of each item's `tokens`. */
function averageTokens(
  values: Float32Array,
  { used, tokens }: { readonly used: number; readonly tokens: number },
  { batch, dims }: PoolingShape,
  out: Float32Array,
): void {
  for (let item = 0; item < batch; item++) {
    for (let d = 0; d < dims; d++) {
      let sum = 0
      for (let token = 0; token < used; token++) sum += values[(item * tokens + token) * dims + d]!
      out[item * dims + d] = sum / used
    }
  }
}

function copyPatches(values: Float32Array, { batch, dims, perTile, skip }: PoolingShape, out: Float32Array): void {
  for (let item = 0; item < batch; item++) {
    const start = (item * (skip + perTile) + skip) * dims
    out.set(values.subarray(start, start + perTile * dims), item * perTile * dims)
  }
}
