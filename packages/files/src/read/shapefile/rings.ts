import { UnusualFile } from './unusual.ts'

/** Positions of a part of a shape: where they are, and how many. */
export interface Ring {
  readonly at: number
  readonly count: number
}

interface Bounded extends Ring {
  readonly west: number
  readonly south: number
  readonly east: number
  readonly north: number
  /** Twice the area; that of an outer ring, which goes clockwise, is negative. */
  readonly area: number
}

const POSITION_BYTES = 16
const LEAST_ON_RING = 4
/** Maximum rings of a shape: each is compared with all others, so an engine is faster for more. */
const MOST_RINGS = 2000

/**
 * The polygons that rings make: outer rings go clockwise, and a hole belongs to the one outer ring that it is in.
 *
 * @throws UnusualFile where an outer ring lies in another one, or a hole in none or in several
 */
export function ringsIn(view: DataView, rings: readonly Ring[]): readonly (readonly Ring[])[] {
  if (rings.length > MOST_RINGS) throw new UnusualFile('a shape of very many parts')
  const bounded = rings.map((ring) => boundsOf(view, ring))
  if (bounded.length === 1) return [bounded]
  const outer = bounded.filter(({ area }) => area < 0)
  const polygons = new Map(outer.map((ring) => [ring, [ring]]))
  for (const ring of bounded) {
    const around = outer.filter((other) => other !== ring && overlaps(other, ring) && isWithin(view, ring, other))
    if (ring.area < 0 ? around.length > 0 : around.length !== 1) throw new UnusualFile('rings that leave a doubt')
    if (ring.area >= 0) polygons.get(around[0]!)!.push(ring)
  }
  return [...polygons.values()]
}

function boundsOf(view: DataView, { at, count }: Ring): Bounded {
  const last = at + (count - 1) * POSITION_BYTES
  const isClosed = xAt(view, at) === xAt(view, last) && yAt(view, at) === yAt(view, last)
  if (count < LEAST_ON_RING || !isClosed) throw new UnusualFile('a ring that is not closed')
  let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
  let area = 0
  const [originX, originY] = [xAt(view, at), yAt(view, at)]
  let [x, y] = [0, 0]
  for (let place = at; place <= last; place += POSITION_BYTES) {
    const [nextX, nextY] = [xAt(view, place), yAt(view, place)]
    west = Math.min(west, nextX)
    east = Math.max(east, nextX)
    south = Math.min(south, nextY)
    north = Math.max(north, nextY)
    const [dx, dy] = [nextX - originX, nextY - originY]
    area += x * dy - dx * y
    ;[x, y] = [dx, dy]
  }
  if (area === 0) throw new UnusualFile('a ring without an area')
  return { at, count, west, south, east, north, area }
}

function overlaps(a: Bounded, b: Bounded): boolean {
  return a.west <= b.east && b.west <= a.east && a.south <= b.north && b.south <= a.north
}

/** Whether a ring lies in another one, by its first position off the other's edge. */
function isWithin(view: DataView, ring: Bounded, outer: Bounded): boolean {
  for (let i = 0; i < ring.count; i++) {
    const at = ring.at + i * POSITION_BYTES
    const side = sideOf(view, xAt(view, at), yAt(view, at), outer)
    if (side !== 0) return side > 0
  }
  throw new UnusualFile('rings that leave a doubt')
}

/** 1 within a ring, −1 outside, 0 on its edge. */
function sideOf(view: DataView, x: number, y: number, { at, count }: Ring): number {
  let isInside = false
  for (let i = 1, place = at + POSITION_BYTES; i < count; i++, place += POSITION_BYTES) {
    const [ax, ay] = [xAt(view, place - POSITION_BYTES), yAt(view, place - POSITION_BYTES)]
    const [bx, by] = [xAt(view, place), yAt(view, place)]
    const turn = (bx - ax) * (y - ay) - (by - ay) * (x - ax)
    const isBeside = x >= Math.min(ax, bx) && x <= Math.max(ax, bx) && y >= Math.min(ay, by) && y <= Math.max(ay, by)
    if (turn === 0 && isBeside) return 0
    if (ay > y !== by > y && turn > 0 === by > ay) isInside = !isInside
  }
  return isInside ? 1 : -1
}

function xAt(view: DataView, at: number): number {
  return view.getFloat64(at, true)
}

function yAt(view: DataView, at: number): number {
  return view.getFloat64(at + 8, true)
}
