import type { TestFeature } from './feature-source.ts'
import type { ReadFeature, ReadTile } from './read-archive.ts'
import { holds } from './validity.ts'

const EXTENT = 4096
const BUFFER = 80

/** Simplification may move a line by one unit, rounding by another 0.71, cuts at the edge by another 0.71. */
const TOLERANCE = 2.5

type Position = readonly [number, number]

/**
 * Compares tiles with the original features, projected at full precision: what should be where, and what must not be.
 * Returns what is wrong. Every tile near a feature is looked at, and sample points in each.
 */
export function checkAgainstBruteForce(features: readonly TestFeature[], tiles: readonly ReadTile[]): string[] {
  const problems: string[] = []
  const index = new Map(tiles.map((tile) => [`${tile.zoom}/${tile.x}/${tile.y}`, tile]))
  const zooms = new Set(tiles.map(({ zoom }) => zoom))
  const highest = Math.max(...zooms)
  for (const zoom of zooms) {
    for (const feature of features) {
      const shape = project(feature, zoom)
      for (let x = Math.floor(shape.minX / EXTENT) - 1; x <= shape.maxX / EXTENT + 1; x++) {
        for (let y = Math.floor(shape.minY / EXTENT) - 1; y <= shape.maxY / EXTENT + 1; y++) {
          const shown = index.get(`${zoom}/${x}/${y}`)?.features.filter(({ id }) => id === feature.id) ?? []
          const problem = compare(shape, shown, x * EXTENT, y * EXTENT, zoom === highest)
          if (problem) problems.push(`${zoom}/${x}/${y} feature ${String(feature.id)}: ${problem}`)
        }
      }
    }
  }
  return problems
}

interface Projected {
  readonly type: string
  readonly parts: readonly (readonly Position[])[]
  readonly minX: number
  readonly minY: number
  readonly maxX: number
  readonly maxY: number
}

function project({ geometry }: TestFeature, zoom: number): Projected {
  const scale = EXTENT * 2 ** zoom
  const toGrid = ([lng, lat]: Position): Position => {
    const sine = Math.sin((lat * Math.PI) / 180)
    return [(lng / 360 + 0.5) * scale, (0.5 - (0.25 * Math.log((1 + sine) / (1 - sine))) / Math.PI) * scale]
  }
  const coordinates = geometry!.coordinates as never
  const lists: Position[][] =
    geometry!.type === 'Point' ? [[coordinates]] : geometry!.type === 'LineString' ? [coordinates] : coordinates
  const parts = lists.map((list) => list.map(toGrid))
  const xs = parts.flat().map(([x]) => x)
  const ys = parts.flat().map(([, y]) => y)
  return {
    type: geometry!.type,
    parts,
    minX: Math.min(...xs),
    minY: Math.min(...ys),
    maxX: Math.max(...xs),
    maxY: Math.max(...ys),
  }
}

function compare(
  shape: Projected,
  shown: readonly ReadFeature[],
  left: number,
  top: number,
  isHighest: boolean,
): string | null {
  if (shown.length > 1) return 'is shown more than once'
  const parts = (shown[0]?.parts ?? []).map((part) => part.map(([x, y]): Position => [x + left, y + top]))
  const within = ([x, y]: Position, margin: number) =>
    x >= left - margin && x <= left + EXTENT + margin && y >= top - margin && y <= top + EXTENT + margin
  if (shape.type === 'Point') {
    const [p] = shape.parts[0]!
    const rounded: Position = [Math.round(p![0]), Math.round(p![1])]
    // A point is rounded to the world grid first: on a tie it may end on either side.
    const shownAt = parts[0]?.[0]
    if (shownAt) return Math.hypot(shownAt[0] - p![0], shownAt[1] - p![1]) < 0.72 ? null : 'a point is elsewhere'
    return isHighest && within(rounded, BUFFER) ? 'a point is missing' : null
  }
  if (shape.type === 'LineString') {
    const [line] = shape.parts
    for (const vertex of parts.flat()) {
      if (distanceTo([line!], vertex, false) > TOLERANCE) return 'a line is elsewhere'
    }
    const isVisible = isHighest || Math.max(shape.maxX - shape.minX, shape.maxY - shape.minY) >= 1 + 1e-3
    if (!isVisible) return null
    for (const sample of samplesOf(line!)) {
      if (within(sample, BUFFER - 3) && !(distanceTo(parts, sample, false) <= TOLERANCE))
        return 'a piece of a line is missing'
    }
    return null
  }
  const isLarge = Math.abs(ringArea(shape.parts[0]!)) > 40
  for (let i = 0; i < 60; i++) {
    const sample: Position = [
      shape.minX + ((i * 0.618034) % 1) * (shape.maxX - shape.minX),
      shape.minY + ((i * 0.754878) % 1) * (shape.maxY - shape.minY),
    ]
    if (!within(sample, BUFFER - 3) || distanceTo(shape.parts, sample, true) < TOLERANCE + 1) continue
    const wanted = covers(shape.parts, sample)
    if (wanted !== covers(parts, sample) && isLarge)
      return wanted ? 'a piece of a polygon is missing' : 'a polygon is elsewhere'
  }
  return null
}

function covers(rings: readonly (readonly Position[])[], [x, y]: Position): boolean {
  return rings.filter((ring) => holds(ring, x, y)).length % 2 === 1
}

function samplesOf(line: readonly Position[]): Position[] {
  return line.slice(1).flatMap(([bx, by], i) => {
    const [ax, ay] = line[i]!
    return [0, 0.3, 0.7, 1].map((t): Position => [ax + (bx - ax) * t, ay + (by - ay) * t])
  })
}

function distanceTo(parts: readonly (readonly Position[])[], p: Position, closed: boolean): number {
  let best = Number.POSITIVE_INFINITY
  for (const part of parts) {
    for (let i = closed ? 0 : 1; i < part.length; i++) {
      best = Math.min(best, distanceToSegment(part[(i + part.length - 1) % part.length]!, part[i]!, p))
    }
  }
  return best
}

/** Distance from a position to the nearest of some lines. */
export function distanceToLines(lines: readonly (readonly Position[])[], p: Position): number {
  return distanceTo(lines, p, false)
}

function distanceToSegment([ax, ay]: Position, [bx, by]: Position, [px, py]: Position): number {
  const length = (bx - ax) ** 2 + (by - ay) ** 2
  const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / length))
  return Math.hypot(ax + (bx - ax) * t - px, ay + (by - ay) * t - py)
}

function ringArea(ring: readonly Position[]): number {
  return ring.reduce((sum, [x, y], i) => {
    const [nx, ny] = ring[(i + 1) % ring.length]!
    return sum + (x * ny - nx * y) / 2
  }, 0)
}
