import type { PixelRect } from '../plan.ts'
import type { ToSource } from './placement.ts'

/**
 * Positions of a view's pixels in a raster: `xy` holds column and row of each pixel's centre, row by row; NaN =
 * outside.
 */
export interface SourceGrid {
  readonly width: number
  readonly height: number
  readonly xy: Float64Array
}

/** Initial side of the cells of the subdivision, in pixels. */
const CELL = 64

/**
 * Projects the centres of all pixels of a rectangle. Cells start large. If the exact middle of a cell and of its sides
 * are within `tolerance` of straight lines between its corners, the cell is filled by a second-degree surface through
 * these nine points; otherwise it is divided. Nearly linear projections need some hundred exact points and curved ones
 * more; a jump (the antimeridian) is exact to the pixel.
 *
 * @param tolerance in pixels of the raster's full resolution
 */
export function projectPixels(project: ToSource, rect: PixelRect, tolerance: number): SourceGrid {
  const { width, height } = rect
  const xy = new Float64Array(2 * width * height)
  const stride = width + 1
  const nodes = new Float64Array(2 * stride * (height + 1))
  const known = new Uint8Array(stride * (height + 1))

  /** Index in `nodes` of the exact position of a corner of pixels. */
  const node = (x: number, y: number): number => {
    const i = y * stride + x
    if (known[i] === 0) {
      project(rect.x + x, rect.y + y, nodes, 2 * i)
      known[i] = 1
    }
    return 2 * i
  }
  /** Whether a node is off the straight line between two others by more than the tolerance; NaN counts as off. */
  const strays = (at: number, a: number, b: number, share: number): boolean => {
    const dx = (nodes[at] as number) - (nodes[a] as number) * (1 - share) - (nodes[b] as number) * share
    const dy = (nodes[at + 1] as number) - (nodes[a + 1] as number) * (1 - share) - (nodes[b + 1] as number) * share
    return !(Math.abs(dx) <= tolerance && Math.abs(dy) <= tolerance)
  }
  const fill = (x0: number, y0: number, x1: number, y1: number): void => {
    if (x1 - x0 === 1 || y1 - y0 === 1) return fillExactly(x0, y0, x1, y1)
    const mx = (x0 + x1) >> 1
    const my = (y0 + y1) >> 1
    const u = (mx - x0) / (x1 - x0)
    const v = (my - y0) / (y1 - y0)
    const top = [node(x0, y0), node(mx, y0), node(x1, y0)] as const
    const middle = [node(x0, my), node(mx, my), node(x1, my)] as const
    const bottom = [node(x0, y1), node(mx, y1), node(x1, y1)] as const
    const isBent =
      strays(top[1], top[0], top[2], u) ||
      strays(bottom[1], bottom[0], bottom[2], u) ||
      strays(middle[0], top[0], bottom[0], v) ||
      strays(middle[2], top[2], bottom[2], v) ||
      strays(middle[1], middle[0], middle[2], u)
    if (!isBent) return fillSmoothly(x0, y0, x1, y1, [...top, ...middle, ...bottom], u, v)
    fill(x0, y0, mx, my)
    fill(mx, y0, x1, my)
    fill(x0, my, mx, y1)
    fill(mx, my, x1, y1)
  }
  const fillExactly = (x0: number, y0: number, x1: number, y1: number): void => {
    for (let y = y0; y < y1; y++) {
      for (let x = x0; x < x1; x++) project(rect.x + x + 0.5, rect.y + y + 0.5, xy, 2 * (y * width + x))
    }
  }
  const fillSmoothly = (
    x0: number,
    y0: number,
    x1: number,
    y1: number,
    nine: readonly number[],
    u: number,
    v: number,
  ): void => {
    const columns = x1 - x0
    for (let y = y0; y < y1; y++) {
      const down = weights((y + 0.5 - y0) / (y1 - y0), v)
      for (const axis of [0, 1]) {
        const at = (i: number): number => nodes[(nine[i] as number) + axis] as number
        const left = at(0) * down[0] + at(3) * down[1] + at(6) * down[2]
        const middle = at(1) * down[0] + at(4) * down[1] + at(7) * down[2]
        const right = at(2) * down[0] + at(5) * down[1] + at(8) * down[2]
        // The parabola through the three, as left + t · (b + t · a).
        const a = (right - left - (middle - left) / u) / (1 - u)
        const b = right - left - a
        for (let x = 0, to = 2 * (y * width + x0) + axis; x < columns; x++, to += 2) {
          const t = (x + 0.5) / columns
          xy[to] = left + t * (b + t * a)
        }
      }
    }
  }
  for (let y = 0; y < height; y += CELL) {
    for (let x = 0; x < width; x += CELL) fill(x, y, Math.min(x + CELL, width), Math.min(y + CELL, height))
  }
  return { width, height, xy }
}

/** Lagrange's weights at `t` of values at 0, `m` and 1. */
function weights(t: number, m: number): readonly [number, number, number] {
  return [((t - m) * (t - 1)) / m, (t * (t - 1)) / (m * (m - 1)), (t * (t - m)) / (1 - m)]
}
