import type { Position } from './outline.ts'

/**
 * Converts a closed ring whose longitudes may exceed ±180 into counter-clockwise rings within that range. It is cut at
 * the antimeridian, and closed along the pole if it encloses one.
 */
export function splitAtAntimeridian(ring: readonly Position[]): Position[][] {
  const turns = Math.round(((ring.at(-1) as Position)[0] - (ring[0] as Position)[0]) / 360)
  if (turns !== 0) return [orient(aroundPole(ring, turns))]
  const longitudes = ring.map(([lng]) => lng)
  const east = Math.max(...longitudes)
  const parts: Position[][] = []
  for (let turn = Math.floor((Math.min(...longitudes) + 180) / 360); -180 + turn * 360 < east; turn++) {
    const part = withinTurn(ring, turn)
    if (part.length > 3) parts.push(orient(part))
  }
  return parts
}

/**
 * The area between a ring around a pole and that pole: two rounds of the ring, closed along the pole, contain one full
 * turn.
 */
function aroundPole(ring: readonly Position[], turns: number): Position[] {
  const pole = ring.reduce((sum, [, lat]) => sum + lat, 0) > 0 ? 90 : -90
  const twice = [...ring, ...ring.slice(1).map(([lng, lat]): Position => [lng + turns * 360, lat])]
  const first = twice[0] as Position
  const last = twice.at(-1) as Position
  return withinTurn(
    [...twice, [last[0], pole], [first[0], pole], first],
    Math.ceil((Math.min(first[0], last[0]) + 180) / 360),
  )
}

function withinTurn(ring: readonly Position[], turn: number): Position[] {
  const part = clip(clip(ring, -180 + turn * 360, 1), 180 + turn * 360, -1)
  return part.map(([lng, lat]) => [lng - turn * 360, lat])
}

function orient(ring: Position[]): Position[] {
  return signedArea(ring) < 0 ? ring.toReversed() : ring
}

/** The part of a closed ring where `side · (lng - edge) >= 0`. Source: Sutherland and Hodgman, 1974. */
function clip(ring: readonly Position[], edge: number, side: 1 | -1): Position[] {
  const kept: Position[] = []
  for (let i = 0; i + 1 < ring.length; i++) {
    const from = ring[i] as Position
    const to = ring[i + 1] as Position
    const before = side * (from[0] - edge)
    const after = side * (to[0] - edge)
    if (before >= 0) kept.push(from)
    if (before * after < 0) kept.push([edge, from[1] + ((to[1] - from[1]) * before) / (before - after)])
  }
  const start = kept[0]
  return start === undefined ? [] : [...kept, start]
}

/** Twice the area, positive when counter-clockwise. */
function signedArea(ring: readonly Position[]): number {
  let sum = 0
  for (let i = 0; i + 1 < ring.length; i++) {
    const [ax, ay] = ring[i] as Position
    const [bx, by] = ring[i + 1] as Position
    sum += ax * by - bx * ay
  }
  return sum
}
