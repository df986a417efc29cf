/** What covers the ground at a pixel of the demo scene. */
export const GROUND = { field: 0, water: 1, forest: 2, town: 3, road: 4 } as const
export type Ground = (typeof GROUND)[keyof typeof GROUND]

/** The demo scene's place: EPSG:32632, north-up, one metre per pixel, in the plain west of an invented town. */
export const SCENE = { size: 4096, epsg: 32632, west: 680_000, north: 5_336_000, metresPerPixel: 1 } as const

interface Blob {
  readonly x: number
  readonly y: number
  readonly radius: number
}

const TOWN: readonly Blob[] = [
  { x: 2150, y: 1950, radius: 760 },
  { x: 2700, y: 2350, radius: 420 },
  { x: 900, y: 3300, radius: 260 },
]
const FOREST: readonly Blob[] = [
  { x: 650, y: 800, radius: 720 },
  { x: 3500, y: 700, radius: 560 },
  { x: 3300, y: 3500, radius: 760 },
  { x: 1500, y: 3750, radius: 330 },
]
const LAKES: readonly Blob[] = [
  { x: 3050, y: 1500, radius: 330 },
  { x: 350, y: 2350, radius: 250 },
]
/** Roads out of town, as lines in pixels. */
const ROADS: readonly (readonly [number, number, number, number])[] = [
  [0, 1700, 4096, 2150],
  [1900, 0, 2300, 4096],
  [2150, 1950, 900, 3300],
  [900, 3300, 0, 3800],
]

/**
 * What lies at a pixel. The edges of lakes, forests and the town are waved by noise, so that nothing is a circle.
 *
 * @param wave slow noise in [-1, 1] at the pixel
 */
export function groundAt(x: number, y: number, wave: number): Ground {
  if (Math.abs(y - riverAt(x) - wave * 60) < 34) return GROUND.water
  for (const lake of LAKES) if (inside(lake, x, y, wave * 80)) return GROUND.water
  for (const [x1, y1, x2, y2] of ROADS) if (distanceToSegment(x, y, x1, y1, x2, y2) < 5) return GROUND.road
  for (const quarter of TOWN) if (inside(quarter, x, y, wave * 120)) return GROUND.town
  for (const wood of FOREST) if (inside(wood, x, y, wave * 220)) return GROUND.forest
  return GROUND.field
}

/** The river's middle at a column. */
function riverAt(x: number): number {
  return 2750 + 260 * Math.sin(x / 640) - x * 0.18
}

function inside(blob: Blob, x: number, y: number, waved: number): boolean {
  const dx = x - blob.x
  const dy = y - blob.y
  const radius = blob.radius + waved
  return dx * dx + dy * dy < radius * radius
}

function distanceToSegment(x: number, y: number, x1: number, y1: number, x2: number, y2: number): number {
  const dx = x2 - x1
  const dy = y2 - y1
  const t = Math.max(0, Math.min(1, ((x - x1) * dx + (y - y1) * dy) / (dx * dx + dy * dy)))
  return Math.hypot(x - x1 - t * dx, y - y1 - t * dy)
}
