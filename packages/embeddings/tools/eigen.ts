/** Rows of a square matrix. */
export type Matrix = readonly Float64Array[]

/**
 * Eigenvalues in descending order, and eigenvectors (rows, of unit length, their largest element positive) of a
 * symmetric matrix, by Jacobi's cyclic rotations.
 */
export function eigenSymmetric(matrix: Matrix): { readonly values: number[]; readonly vectors: Float64Array[] } {
  const n = matrix.length
  const a = matrix.map((row) => Float64Array.from(row))
  const v = a.map((_, i) => Float64Array.from({ length: n }, (__, j) => (i === j ? 1 : 0)))
  for (let sweep = 0; sweep < 60; sweep++) {
    let off = 0
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) off += a[p]![q]! ** 2
    if (off < 1e-22) break
    for (let p = 0; p < n; p++) for (let q = p + 1; q < n; q++) rotate(a, v, p, q)
  }
  const order = a.map((row, i) => [row[i]!, i] as const).toSorted(([x], [y]) => y - x)
  return { values: order.map(([value]) => value), vectors: order.map(([, i]) => upright(v.map((row) => row[i]!))) }
}

/** Makes `a[p][q]` zero. */
function rotate(a: Float64Array[], v: Float64Array[], p: number, q: number): void {
  const apq = a[p]![q]!
  if (apq === 0) return
  const theta = (a[q]![q]! - a[p]![p]!) / (2 * apq)
  const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta * theta + 1))
  const c = 1 / Math.sqrt(t * t + 1)
  const s = t * c
  for (const row of [...a, ...v]) turn(row, p, q, c, s)
  const [rowP, rowQ] = [a[p]!, a[q]!]
  for (let i = 0; i < a.length; i++) {
    const [x, y] = [rowP[i]!, rowQ[i]!]
    rowP[i] = c * x - s * y
    rowQ[i] = s * x + c * y
  }
}

function turn(row: Float64Array, p: number, q: number, c: number, s: number): void {
  const [x, y] = [row[p]!, row[q]!]
  row[p] = c * x - s * y
  row[q] = s * x + c * y
}

function upright(vector: number[]): Float64Array {
  const largest = vector.reduce((best, value) => (Math.abs(value) > Math.abs(best) ? value : best), 0)
  return Float64Array.from(vector, (value) => value * Math.sign(largest || 1))
}
