import type { Affine, ControlPoint } from '../raster-info.ts'

/**
 * The least-squares affine transform of control points, and the largest residual of a point in pixels. Null when the
 * points do not span a plane.
 */
export function fitAffine(points: readonly ControlPoint[]): { affine: Affine; residual: number } | null {
  if (points.length < 3) return null
  const n = points.length
  const mean = (of: (point: ControlPoint) => number): number => points.reduce((sum, point) => sum + of(point), 0) / n
  const [column, row] = [mean((p) => p.column), mean((p) => p.row)]
  const [x, y] = [mean((p) => p.x), mean((p) => p.y)]
  const moment = (a: (p: ControlPoint) => number, b: (p: ControlPoint) => number): number =>
    points.reduce((sum, p) => sum + a(p) * b(p), 0)
  const dc = (p: ControlPoint): number => p.column - column
  const dr = (p: ControlPoint): number => p.row - row
  const [cc, cr, rr] = [moment(dc, dc), moment(dc, dr), moment(dr, dr)]
  const determinant = cc * rr - cr * cr
  if (!(determinant > 1e-9 * cc * rr)) return null
  const slopes = (target: (p: ControlPoint) => number): [number, number] => {
    const [ct, rt] = [moment(dc, target), moment(dr, target)]
    return [(ct * rr - rt * cr) / determinant, (rt * cc - ct * cr) / determinant]
  }
  const [a, b] = slopes((p) => p.x - x)
  const [d, e] = slopes((p) => p.y - y)
  const affine: Affine = [x - a * column - b * row, a, b, y - d * column - e * row, d, e]
  const inverse = a * e - b * d
  if (inverse === 0 || !affine.every(Number.isFinite)) return null
  const residual = points.reduce((worst, p) => {
    const [dx, dy] = [p.x - affine[0] - a * p.column - b * p.row, p.y - affine[3] - d * p.column - e * p.row]
    return Math.max(worst, Math.hypot((dx * e - dy * b) / inverse, (dy * a - dx * d) / inverse))
  }, 0)
  return { affine, residual }
}
