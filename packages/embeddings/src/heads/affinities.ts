/** Rows of `dims` numbers each, which vectors are compared with, and a bias per row. */
export interface ComparedRows {
  readonly rows: Float32Array
  readonly bias: Float64Array
  readonly dims: number
}

/**
 * Inner products of vectors with rows, times the factor of the vector, plus the bias of the row: `out[i · rows + r]`.
 * Blocks of two vectors by four rows load each number once for several products.
 */
export function affinities(
  vectors: Float32Array,
  factors: Float64Array,
  compared: ComparedRows,
  out: Float32Array,
): void {
  const { rows, bias, dims } = compared
  const n = vectors.length / dims
  const m = bias.length
  for (let i = 0; i < n; i += 2) {
    const isPair = i + 1 < n
    let r = 0
    // The last block of four may compute rows of the one before it again, which is faster than row by row.
    if (isPair && m >= 4) for (; r < m; r += 4) addBlock(vectors, factors, compared, { i, r: Math.min(r, m - 4), out })
    for (; r < m; r++) {
      let [first, second] = [0, 0]
      for (let k = 0; k < dims; k++) {
        const w = rows[r * dims + k]!
        first += vectors[i * dims + k]! * w
        if (isPair) second += vectors[(i + 1) * dims + k]! * w
      }
      out[i * m + r] = first * factors[i]! + bias[r]!
      if (isPair) out[(i + 1) * m + r] = second * factors[i + 1]! + bias[r]!
    }
  }
}

/** The products of vectors i and i + 1 with rows r to r + 3. */
function addBlock(
  vectors: Float32Array,
  factors: Float64Array,
  { rows, bias, dims }: ComparedRows,
  { i, r, out }: { readonly i: number; readonly r: number; readonly out: Float32Array },
): void {
  let [a0, a1, a2, a3, b0, b1, b2, b3] = [0, 0, 0, 0, 0, 0, 0, 0]
  const first = i * dims
  const second = first + dims
  const r0 = r * dims
  const r1 = r0 + dims
  const r2 = r1 + dims
  const r3 = r2 + dims
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
  const at = i * bias.length + r
  const next = at + bias.length
  const [fa, fb] = [factors[i]!, factors[i + 1]!]
  out[at] = a0 * fa + bias[r]!
  out[at + 1] = a1 * fa + bias[r + 1]!
  out[at + 2] = a2 * fa + bias[r + 2]!
  out[at + 3] = a3 * fa + bias[r + 3]!
  out[next] = b0 * fb + bias[r]!
  out[next + 1] = b1 * fb + bias[r + 1]!
  out[next + 2] = b2 * fb + bias[r + 2]!
  out[next + 3] = b3 * fb + bias[r + 3]!
}
