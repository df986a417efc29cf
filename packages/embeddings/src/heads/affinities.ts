/**
 * Inner products of vectors with the rows of a head, plus one number a row: `out[i · rows + r]`. Two vectors by four rows at a
 * time: each number is loaded once for several products.
 */
export function affinities(
  vectors: Float32Array,
  rows: Float32Array,
  bias: Float32Array,
  dims: number,
  out: Float32Array,
): void {
  const n = vectors.length / dims
  const m = bias.length
  let i = 0
  for (; i + 1 < n; i += 2) {
    let r = 0
    for (; r + 3 < m; r += 4) block(vectors, i * dims, rows, r, bias, dims, out, i * m + r)
    for (; r < m; r++) {
      out[i * m + r] = bias[r]! + dot(vectors, i * dims, rows, r * dims, dims)
      out[(i + 1) * m + r] = bias[r]! + dot(vectors, (i + 1) * dims, rows, r * dims, dims)
    }
  }
  for (; i < n; i++) {
    for (let r = 0; r < m; r++) out[i * m + r] = bias[r]! + dot(vectors, i * dims, rows, r * dims, dims)
  }
}

function block(
  vectors: Float32Array,
  first: number,
  rows: Float32Array,
  row: number,
  bias: Float32Array,
  dims: number,
  out: Float32Array,
  at: number,
): void {
  let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0]
  const r0 = row * dims
  const r1 = r0 + dims
  const r2 = r1 + dims
  const r3 = r2 + dims
  const second = first + dims
  for (let k = 0; k < dims; k++) {
    const a = vectors[first + k]!
    const b = vectors[second + k]!
    const w0 = rows[r0 + k]!
    const w1 = rows[r1 + k]!
    const w2 = rows[r2 + k]!
    const w3 = rows[r3 + k]!
    a0 += a * w0
    a1 += a * w1
    a2 += a * w2
    a3 += a * w3
    b0 += b * w0
    b1 += b * w1
    b2 += b * w2
    b3 += b * w3
  }
  out[at] = a0 + bias[row]!
  out[at + 1] = a1 + bias[row + 1]!
  out[at + 2] = a2 + bias[row + 2]!
  out[at + 3] = a3 + bias[row + 3]!
  const next = at + bias.length
  out[next] = b0 + bias[row]!
  out[next + 1] = b1 + bias[row + 1]!
  out[next + 2] = b2 + bias[row + 2]!
  out[next + 3] = b3 + bias[row + 3]!
}

function dot(a: Float32Array, i: number, b: Float32Array, j: number, dims: number): number {
  let sum = 0
  for (let k = 0; k < dims; k++) sum += a[i + k]! * b[j + k]!
  return sum
}

/** Minus half of each row's squared length: with it the largest affinity is that of the nearest row. */
export function nearnessBias(rows: Float32Array, dims: number): Float32Array {
  const bias = new Float32Array(rows.length / dims)
  for (let r = 0; r < bias.length; r++) bias[r] = -dot(rows, r * dims, rows, r * dims, dims) / 2
  return bias
}
