/** A function and its gradient at a point; the gradient is written into the second array. */
export type Objective = (point: Float64Array, gradient: Float64Array) => number

export interface Minimum {
  readonly value: number
  readonly iterations: number
  /** Largest absolute component of the gradient. */
  readonly gradient: number
}

interface Pair {
  readonly s: Float64Array
  readonly y: Float64Array
  readonly rho: number
}

const MEMORY = 10
const MAX_HALVINGS = 40

/**
 * Minimises a smooth convex function from `point`, in place: L-BFGS with a memory of ten steps and backtracking (Nocedal and
 * Wright, Numerical Optimization, algorithm 7.4).
 */
export function minimize(
  objective: Objective,
  point: Float64Array,
  { tolerance, maxIterations }: { readonly tolerance: number; readonly maxIterations: number },
): Minimum {
  const n = point.length
  let gradient = new Float64Array(n)
  let next = new Float64Array(n)
  let value = objective(point, gradient)
  const pairs: Pair[] = []
  let iterations = 0
  while (largestOf(gradient) > tolerance && iterations < maxIterations) {
    const direction = descent(gradient, pairs)
    const slope = inner(direction, gradient)
    if (!(slope < 0)) break
    const before = point.slice()
    let step = iterations === 0 ? Math.min(1, 1 / Math.sqrt(inner(gradient, gradient))) : 1
    let found = Infinity
    for (let halvings = 0; halvings < MAX_HALVINGS; halvings++, step /= 2) {
      for (let i = 0; i < n; i++) point[i] = before[i]! + step * direction[i]!
      found = objective(point, next)
      if (found <= value + 1e-4 * step * slope) break
    }
    if (!(found < value)) {
      point.set(before)
      break
    }
    remember(pairs, { point, before, next, gradient })
    const spare = gradient
    gradient = next
    next = spare
    value = found
    iterations++
  }
  return { value, iterations, gradient: largestOf(gradient) }
}

/** Stores the step and its change of gradient, as the memory of L-BFGS. */
function remember(pairs: Pair[], step: Readonly<Record<'point' | 'before' | 'next' | 'gradient', Float64Array>>): void {
  const s = new Float64Array(step.point.length)
  const y = new Float64Array(step.point.length)
  for (let i = 0; i < s.length; i++) {
    s[i] = step.point[i]! - step.before[i]!
    y[i] = step.next[i]! - step.gradient[i]!
  }
  const curvature = inner(s, y)
  if (curvature <= 1e-12 * inner(y, y)) return
  if (pairs.length === MEMORY) pairs.shift()
  pairs.push({ s, y, rho: 1 / curvature })
}

function descent(gradient: Float64Array, pairs: readonly Pair[]): Float64Array {
  const direction = Float64Array.from(gradient, (value) => -value)
  const alphas: number[] = []
  for (const { s, y, rho } of pairs.toReversed()) {
    const alpha = rho * inner(s, direction)
    alphas.unshift(alpha)
    addScaled(direction, y, -alpha)
  }
  const last = pairs.at(-1)
  if (last) {
    const scale = 1 / (last.rho * inner(last.y, last.y))
    for (let i = 0; i < direction.length; i++) direction[i] = direction[i]! * scale
  }
  pairs.forEach(({ s, y, rho }, i) => addScaled(direction, s, alphas[i]! - rho * inner(y, direction)))
  return direction
}

function addScaled(to: Float64Array, from: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i] = to[i]! + factor * from[i]!
}

function inner(a: Float64Array, b: Float64Array): number {
  let sum = 0
  for (let i = 0; i < a.length; i++) sum += a[i]! * b[i]!
  return sum
}

function largestOf(numbers: Float64Array): number {
  let most = 0
  for (const value of numbers) most = Math.max(most, Math.abs(value))
  return most
}
