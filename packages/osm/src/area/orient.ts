/** Twice the signed area of a, b, c: positive when c is left of a to b; exact for all 32-bit coordinates. */
export function orient(ax: number, ay: number, bx: number, by: number, cx: number, cy: number): number {
  const left = (bx - ax) * (cy - ay)
  const right = (by - ay) * (cx - ax)
  const det = left - right
  // Differences are exact; the two products and their difference have a relative error of at most 2^-53 each.
  if (Math.abs(det) > (Math.abs(left) + Math.abs(right)) * 2 ** -51) return det
  if (Math.abs(left) <= Number.MAX_SAFE_INTEGER && Math.abs(right) <= Number.MAX_SAFE_INTEGER) return det
  return Number(BigInt(bx - ax) * BigInt(cy - ay) - BigInt(by - ay) * BigInt(cx - ax))
}
