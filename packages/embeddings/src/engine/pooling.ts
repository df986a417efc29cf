import type { Pooling } from '../models/manifest.ts'

/** A float32 output of a model. */
export interface OutputTensor {
  readonly dims: readonly number[]
  readonly data: Float32Array
}

export interface PoolingShape {
  readonly batch: number
  readonly dims: number
  /** Number of vectors per item. */
  readonly perTile: number
  /** Tokens before the patches. */
  readonly skip: number
}

/** A pooling of tiles, or the layout of the patches of a tile. */
type AnyPooling = Pooling | 'patches' | 'patch-map' | 'patch-map-last'

/**
 * Reduces an output to `batch · perTile` vectors of `dims` numbers in `out`. Returns the required shape if the actual
 * one does not match, else null.
 */
export function poolOutput(
  tensor: OutputTensor,
  pooling: AnyPooling,
  shape: PoolingShape,
  out: Float32Array,
): string | null {
  const wanted = wantedDims(tensor.dims, pooling, shape)
  const fits = wanted.length === tensor.dims.length && wanted.every((size, axis) => size === tensor.dims[axis])
  if (!fits) return `[${wanted.join(', ')}]`
  const tokens = tensor.dims[1]!
  const { data } = tensor
  const { batch, dims, perTile, skip } = shape
  const places = { step: dims, offset: 0 }
  switch (pooling) {
    case 'none':
    case 'patch-map-last':
      out.set(data)
      break
    case 'mean-positions':
      averageRuns(data, tensor.dims[2]! * tensor.dims[3]!, out)
      break
    case 'mean-positions-last':
      averageTokens(
        data,
        { from: 0, to: tokens * tensor.dims[2]!, tokens: tokens * tensor.dims[2]! },
        shape,
        out,
        places,
      )
      break
    case 'patches':
      copyPatches(data, shape, out)
      break
    case 'patch-map':
      for (let row = 0; row < batch * perTile; row++) {
        const start = Math.floor(row / perTile) * dims * perTile + (row % perTile)
        for (let d = 0; d < dims; d++) out[row * dims + d] = data[start + d * perTile]!
      }
      break
    case 'first-and-mean': {
      const half = { ...shape, dims: dims / 2 }
      averageTokens(data, { from: 0, to: 1, tokens }, half, out, places)
      averageTokens(data, { from: skip, to: tokens, tokens }, half, out, { step: dims, offset: dims / 2 })
      break
    }
    case 'first-token':
      averageTokens(data, { from: 0, to: 1, tokens }, shape, out, places)
      break
    case 'mean-tokens':
      averageTokens(data, { from: skip, to: tokens, tokens }, shape, out, places)
      break
  }
  return null
}

/** The shape that the pooling requires; free sizes are taken from the actual shape. */
function wantedDims(actual: readonly number[], pooling: AnyPooling, shape: PoolingShape): readonly number[] {
  const { batch, dims, perTile, skip } = shape
  if (pooling === 'none') return [batch, dims, ...actual.slice(2).map(() => 1)]
  if (pooling === 'mean-positions') return [batch, dims, actual[2] ?? 1, actual[3] ?? 1]
  if (pooling === 'patches') return [batch, skip + perTile, dims]
  if (pooling === 'mean-positions-last') return [batch, actual[1] ?? 1, actual[2] ?? 1, dims]
  if (pooling === 'patch-map') return [batch, dims, ...gridOf(actual.slice(2), perTile)]
  if (pooling === 'patch-map-last') return [batch, ...gridOf(actual.slice(1, 3), perTile), dims]
  // A mean needs at least one token.
  const tokens = Math.max(actual[1] ?? 1, pooling === 'first-token' ? 1 : skip + 1)
  return [batch, tokens, pooling === 'first-and-mean' ? dims / 2 : dims]
}

/** The actual rows and columns if their product is the number of patches, else one column. */
function gridOf([rows = 1, columns = 1]: readonly number[], perTile: number): readonly number[] {
  return rows * columns === perTile ? [rows, columns] : [perTile, 1]
}

/** Replaces each run of `length` numbers by its mean. */
function averageRuns(values: Float32Array, length: number, out: Float32Array): void {
  for (let i = 0; i < out.length; i++) {
    let sum = 0
    for (let j = i * length; j < (i + 1) * length; j++) sum += values[j]!
    out[i] = sum / length
  }
}

/** The mean of some of each item's `tokens`, written into rows `step` apart. */
function averageTokens(
  values: Float32Array,
  { from, to, tokens }: { readonly from: number; readonly to: number; readonly tokens: number },
  { batch, dims }: PoolingShape,
  out: Float32Array,
  { step, offset }: { readonly step: number; readonly offset: number },
): void {
  for (let item = 0; item < batch; item++) {
    for (let d = 0; d < dims; d++) {
      let sum = 0
      for (let token = from; token < to; token++) sum += values[(item * tokens + token) * dims + d]!
      out[item * step + offset + d] = sum / (to - from)
    }
  }
}

function copyPatches(values: Float32Array, { batch, dims, perTile, skip }: PoolingShape, out: Float32Array): void {
  for (let item = 0; item < batch; item++) {
    const start = (item * (skip + perTile) + skip) * dims
    out.set(values.subarray(start, start + perTile * dims), item * perTile * dims)
  }
}
