import type { PathCommand } from 'fontkitten'
import type { Ring } from './glyph-field.ts'

/** Maximum distance between a curve and its segments, in pixels. */
const TOLERANCE = 0.02
const MOST_SEGMENTS = 32

/** Rings of an outline, with curves as segments. @param scale pixels for each unit of the font */
export function ringsOf(commands: readonly PathCommand[], scale: number): Ring[] {
  const rings: number[][] = []
  for (const { command, args } of commands) {
    // Font programs draw in 64ths of a pixel.
    const points = args.map((value) => Math.round(value * scale * 64) / 64)
    const ring = rings.at(-1)
    if (command === 'moveTo') rings.push(points)
    else if (command === 'lineTo') ring?.push(...points)
    else if (command !== 'closePath' && ring) addCurve(ring, points)
  }
  for (const ring of rings) ring.push(ring[0]!, ring[1]!)
  return rings
}

/** Adds a Bézier curve of the second or third degree. */
function addCurve(ring: number[], points: readonly number[]): void {
  const all = [...ring.slice(-2), ...points]
  let bend = 0
  for (let i = 0; i + 5 < all.length; i += 2)
    bend = Math.max(
      bend,
      Math.hypot(all[i]! - 2 * all[i + 2]! + all[i + 4]!, all[i + 1]! - 2 * all[i + 3]! + all[i + 5]!),
    )
  const degree = all.length / 2 - 1
  const count = Math.min(MOST_SEGMENTS, Math.ceil(Math.sqrt((degree * (degree - 1) * bend) / (8 * TOLERANCE)))) || 1
  for (let step = 1; step <= count; step++) ring.push(...pointAt(all, step / count))
}

/** A point of a curve by De Casteljau's algorithm. */
function pointAt(points: readonly number[], t: number): readonly number[] {
  let level = points
  while (level.length > 2) {
    const before = level
    level = before.slice(2).map((value, i) => before[i]! + t * (value - before[i]!))
  }
  return level
}
