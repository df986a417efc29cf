import { Path } from './path.ts'
import { rebuildPolygons } from './rebuild-polygons.ts'
import { ringHolds } from './ring-holds.ts'
import { SegmentPairs } from './segments.ts'
import { tidyRing } from './tidy-ring.ts'
import { twiceArea } from './twice-area.ts'

/**
 * Makes polygons on a grid valid (OGC Simple Features 6.1.11 and 6.1.14): rounding and simplifying may have let rings
 * touch, cross or collapse. Most polygons have no such contact and only get the right ring orientation; the others are
 * rebuilt.
 *
 * `out` then holds outer rings of positive area, each followed by its holes of negative area; it is empty when nothing
 * has an area. Not re-entrant.
 */
export class PolygonCleaner {
  out = new Path()
  #tidy = new Path()
  readonly #pairs = new SegmentPairs()

  /** @param path rings with whole coordinates within ±2^14; each outer ring begins a polygon */
  clean(path: Path): void {
    const tidy = this.#tidy
    tidy.clear()
    this.out.clear()
    let hasOuter = false
    for (let part = 0; part < path.parts; part++) {
      const isHole = path.holes[part]!
      // Holes of a polygon that collapsed go with it.
      if (isHole === 1 && !hasOuter) continue
      const before = tidy.parts
      tidyRing(path.xy, path.startOf(part), path.ends[part]!, isHole, tidy)
      if (isHole === 0) hasOuter = tidy.parts > before
    }
    if (tidy.parts === 0) return
    this.#pairs.load(tidy)
    if (this.#pairs.find(tidy, () => true) || !isNested(tidy)) rebuildPolygons(tidy, this.#pairs, this.out)
    else {
      wind(tidy)
      this.#tidy = this.out
      this.out = tidy
    }
  }
}

/** Whether outer rings lie outside of all polygons and holes directly in their own; for rings without contact. */
function isNested(path: Path): boolean {
  if (path.parts === 1) return true
  const boxes = boxesOf(path)
  const isInBox = (part: number, x: number, y: number): boolean => {
    const at = 4 * part
    return x >= boxes[at]! && y >= boxes[at + 1]! && x <= boxes[at + 2]! && y <= boxes[at + 3]!
  }
  let outer = 0
  for (let part = 0; part < path.parts; part++) {
    const isHole = path.holes[part]!
    if (isHole === 0) outer = part
    const x = path.xy[path.startOf(part)]!
    const y = path.xy[path.startOf(part) + 1]!
    if (isHole === 1 && !ringHolds(path, outer, x, y)) return false
    let depth = 0
    for (let other = 0; other < path.parts; other++) {
      if (other !== part && isInBox(other, x, y) && ringHolds(path, other, x, y))
        depth += path.holes[other] === 0 ? 1 : -1
    }
    if (depth !== isHole) return false
  }
  return true
}

/** West, south, east and north of each part. */
function boxesOf({ xy, ends, parts }: Path): Float64Array {
  const boxes = new Float64Array(4 * parts)
  for (let part = 0, i = 0; part < parts; part++) {
    let [west, south, east, north] = [Infinity, Infinity, -Infinity, -Infinity]
    for (; i < ends[part]!; i += 2) {
      west = Math.min(west, xy[i]!)
      south = Math.min(south, xy[i + 1]!)
      east = Math.max(east, xy[i]!)
      north = Math.max(north, xy[i + 1]!)
    }
    boxes.set([west, south, east, north], 4 * part)
  }
  return boxes
}

/** Turns outer rings to positive and holes to negative area. */
function wind(path: Path): void {
  for (let part = 0; part < path.parts; part++) {
    const start = path.startOf(part)
    const end = path.ends[part]!
    const area = twiceArea(path.xy, start / 2, end / 2)
    if (area > 0 === (path.holes[part] === 0)) continue
    const xy = path.xy
    for (let i = start, j = end - 2; i < j; i += 2, j -= 2) {
      const x = xy[i]!
      const y = xy[i + 1]!
      xy[i] = xy[j]!
      xy[i + 1] = xy[j + 1]!
      xy[j] = x
      xy[j + 1] = y
    }
  }
}
