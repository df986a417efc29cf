import {
  POLYGON_TO_CELLS_FLAGS,
  UNITS,
  cellToBoundary,
  getHexagonAreaAvg,
  getHexagonEdgeLengthAvg,
  polygonToCellsExperimental,
} from 'h3-js'

import { emptyArea, invalidArea, invalidResolution, tooManyCells } from './errors.ts'
import type { PolygonRings, Position } from './geometry.ts'

/** A maximum and the name of its setting; 0 means no limit. */
export interface CellGuard {
  readonly limit: number
  readonly setting: string
}

export interface CoverRequest {
  /**
   * Polygons in longitude and latitude. A ring over the antimeridian runs on beyond ±180, or jumps: a step of more than
   * 180 degrees crosses it.
   */
  readonly area: readonly PolygonRings[]
  readonly resolution: number
  readonly maxCells?: CellGuard
}

const EARTH_RADIUS_KM = 6371.0072
const RADIANS = Math.PI / 180
/** H3 cells of one resolution differ from their mean area by less than this factor. */
const AREA_SPREAD = 2

/**
 * All H3 cells that have a point in common with the area, in ascending order.
 *
 * The guard refuses the area before cells are made when its size or outline shows that the limit is exceeded, else by
 * the exact number of cells.
 *
 * @throws INVALID_H3_RESOLUTION, size_guard_exceeded, INVALID_AREA, EMPTY_AREA
 */
export function coverArea({ area, resolution, maxCells }: CoverRequest): string[] {
  guardCells({ area, resolution, ...(maxCells && { maxCells }) })
  const polygons = area.flatMap(withTurns)
  const limit = maxCells?.limit || Infinity
  const refuse = (cells: number, exact: boolean): never => {
    throw tooManyCells({ cells, exact, resolution, limit, setting: maxCells?.setting ?? '' })
  }
  if (mostCells(area, resolution) > limit) {
    // A long thin area has few square kilometres but many cells; coarser resolutions reveal it cheaply.
    for (let coarser = 0; coarser < resolution; coarser++) {
      const { size } = cover(polygons, coarser)
      if (size > limit * AREA_SPREAD) refuse(size, false)
    }
  }
  const cells = cover(polygons, resolution)
  if (cells.size > limit) refuse(cells.size, true)
  if (cells.size === 0) throw emptyArea()
  return [...cells].toSorted()
}

/**
 * Refuses an area that certainly has too many cells. Cheap enough for a check on submission; `coverArea` is exact.
 *
 * @throws INVALID_H3_RESOLUTION, size_guard_exceeded
 */
export function guardCells({ area, resolution, maxCells }: CoverRequest): void {
  const cells = estimateCells({ area, resolution })
  if (!maxCells?.limit || cells <= maxCells.limit * AREA_SPREAD) return
  throw tooManyCells({ cells, exact: false, resolution, ...maxCells })
}

/**
 * Approximate number of cells of an area: its size divided by the mean size of a cell.
 *
 * @throws INVALID_H3_RESOLUTION
 */
export function estimateCells({ area, resolution }: CoverRequest): number {
  if (!Number.isInteger(resolution) || resolution < 0 || resolution > 15) throw invalidResolution({ resolution })
  const squareKm = area.reduce((sum, polygon) => sum + polygonArea(polygon), 0)
  return Math.ceil(squareKm / getHexagonAreaAvg(resolution, UNITS.km2))
}

/**
 * Upper bound of the cells of an area: twice the average number of cells in it and across its border (the mean number
 * of hexagons that a line of given length meets is known, Cauchy and Crofton).
 */
function mostCells(area: readonly PolygonRings[], resolution: number): number {
  const lengthKm = area.flat().reduce((sum, ring) => sum + ringLength(ring), 0)
  const crossed = (0.37 * lengthKm) / getHexagonEdgeLengthAvg(resolution, UNITS.km)
  return AREA_SPREAD * (estimateCells({ area, resolution }) + crossed + area.length)
}

function cover(polygons: readonly PolygonRings[], resolution: number): Set<string> {
  const cells = new Set<string>()
  const { containmentOverlapping } = POLYGON_TO_CELLS_FLAGS
  for (const polygon of polygons) {
    const rings = polygon.map((ring) => ring.map(([x, y]) => [x, y]))
    try {
      for (const cell of polygonToCellsExperimental(rings, resolution, containmentOverlapping, true)) cells.add(cell)
    } catch (cause) {
      throw invalidArea({ why: cause instanceof Error ? cause.message : String(cause) }, { cause })
    }
  }
  return cells
}

/** A polygon, and a copy shifted by a whole turn if it crosses the antimeridian, because H3 covers ±180 only. */
function withTurns(polygon: PolygonRings): PolygonRings[] {
  const positions = polygon.flat()
  const wrong = positions.find(([x, y]) => !(Math.abs(x) <= 360 && Math.abs(y) <= 90))
  if (wrong) throw invalidArea({ why: `[${wrong.join(', ')}] is not a position` })
  const turned = (turn: number): PolygonRings => polygon.map((ring) => ring.map(([x, y]): Position => [x + turn, y]))
  return [
    polygon,
    ...(positions.some(([x]) => x > 180) ? [turned(-360)] : []),
    ...(positions.some(([x]) => x < -180) ? [turned(360)] : []),
  ]
}

/**
 * The outline of a cell in longitude and latitude: one closed counter-clockwise ring, or two where the antimeridian
 * cuts it. A cell around a pole is closed along the pole.
 */
export function cellPolygons(cell: string): PolygonRings[] {
  const ring = unwrappedBoundary(cell)
  const xs = ring.map(([x]) => x)
  const [west, east] = [Math.min(...xs), Math.max(...xs)]
  const parts = [-360, 0, 360].flatMap((shift) => {
    if (west + shift >= 180 || east + shift <= -180) return []
    const moved = ring.map(([x, y]): Position => [x + shift, y])
    return [clip(clip(moved, -180, 1), 180, -1)]
  })
  return parts.filter((part) => part.length >= 3).map((part) => [[...part, part[0]!]])
}

/**
 * A cell's vertices with longitudes that run on beyond ±180 instead of jumping. A ring that runs all around a pole is
 * closed along it.
 */
export function unwrappedBoundary(cell: string): Position[] {
  const ring: Position[] = []
  let shift = 0
  let last: number | null = null
  for (const [x = 0, y = 0] of cellToBoundary(cell, true)) {
    if (last !== null && x - last > 180) shift -= 360
    if (last !== null && x - last < -180) shift += 360
    last = x
    ring.push([x + shift, y])
  }
  // h3-js closes the ring; the last vertex of a ring around a pole is 360 degrees from the first.
  const [firstX, firstY] = ring[0]!
  const [lastX] = ring.at(-1)!
  if (Math.abs(lastX - firstX) < 180) return ring.slice(0, -1)
  const pole = firstY > 0 ? 90 : -90
  const closed: Position[] = [...ring, [lastX, pole], [firstX, pole]]
  return lastX > firstX === pole > 0 ? closed : closed.toReversed()
}

/** The part of a convex ring where `side · (x - limit) >= 0`. */
function clip(ring: readonly Position[], limit: number, side: 1 | -1): Position[] {
  const out: Position[] = []
  for (const [i, [bx, by]] of ring.entries()) {
    const [ax, ay] = ring.at(i - 1)!
    const a = side * (ax - limit)
    const b = side * (bx - limit)
    if (a < 0 !== b < 0) out.push([limit, ay + ((by - ay) * a) / (a - b)])
    if (b >= 0) out.push([bx, by])
  }
  return out
}

/** Square kilometres on the sphere, without the holes. */
function polygonArea(polygon: PolygonRings): number {
  return polygon.reduce((sum, ring, i) => sum + (i === 0 ? 1 : -1) * Math.abs(ringArea(ring)), 0)
}

/** Kilometres, for edges that are short against the Earth. */
function ringLength(ring: readonly Position[]): number {
  let sum = 0
  for (const [i, [x, y]] of ring.entries()) {
    const [px, py] = ring.at(i - 1)!
    sum += Math.hypot((x - px) * Math.cos(((y + py) / 2) * RADIANS), y - py)
  }
  return sum * RADIANS * EARTH_RADIUS_KM
}

/** Source: Chamberlain and Duquette, Some algorithms for polygons on a sphere (JPL 07-03). */
function ringArea(ring: readonly Position[]): number {
  let sum = 0
  for (const [i, [x, y]] of ring.entries()) {
    const [px, py] = ring.at(i - 1)!
    let turn = x - px
    if (turn > 180) turn -= 360
    if (turn < -180) turn += 360
    sum += turn * RADIANS * (2 + Math.sin(y * RADIANS) + Math.sin(py * RADIANS))
  }
  return (sum * EARTH_RADIUS_KM * EARTH_RADIUS_KM) / 2
}
