import { buildCity, type City, type CityElement, type CityTags } from '@terrane/testing/city'
import proj4 from 'proj4'

/** Land cover classes of a pixel. Fields are `field` and above: one value per crop. */
export const GROUND = {
  meadow: 0,
  water: 1,
  forest: 2,
  garden: 3,
  industry: 4,
  road: 5,
  track: 6,
  rail: 7,
  roof: 8,
  field: 16,
} as const

/** Grid of the demo scene, over the demo town: EPSG:32632, north-up, 0.75 metres per pixel. */
export const SCENE = { size: 4096, epsg: 32632, metresPerPixel: 0.75 } as const

export interface SceneMap {
  /** Easting of the left edge and northing of the upper one, in metres. */
  readonly west: number
  readonly north: number
  /** One ground value per pixel, row by row. */
  readonly ground: Uint8Array
  /** The crops, by ground value minus `GROUND.field`. */
  readonly crops: readonly string[]
}

type Point = readonly [x: number, y: number]

/** Half widths of roads in metres. */
const ROADS: Readonly<Record<string, number>> = {
  motorway: 6,
  motorway_link: 3.5,
  trunk: 6,
  primary: 5,
  secondary: 4.5,
  tertiary: 4,
  unclassified: 3.2,
  residential: 3.2,
  living_street: 3,
  pedestrian: 4,
  service: 2,
  cycleway: 1.5,
  footway: 1.2,
  path: 1,
  steps: 1,
}

/** Draws the demo town as a land cover map, from the same data as the town's map, so that both align. */
export function drawSceneMap(): SceneMap {
  const city = buildCity()
  const [west, south, east, north] = city.header.bbox
  const project = proj4('EPSG:4326', '+proj=utm +zone=32 +datum=WGS84')
  const [x, y] = project.forward([(west + east) / 2, (south + north) / 2])
  const half = (SCENE.size * SCENE.metresPerPixel) / 2
  // Whole metres, so that the coefficients of the affine are short.
  const left = Math.round(x - half)
  const top = Math.round(y + half)
  const toPixel = ([lng, lat]: readonly [number, number]): Point => {
    const [e, n] = project.forward([lng, lat])
    return [(e - left) / SCENE.metresPerPixel, (top - n) / SCENE.metresPerPixel]
  }
  const canvas = new Canvas(SCENE.size)
  const crops = drawGround(canvas, city, toPixel)
  drawWays(canvas, city.elements, toPixel)
  return { west: left, north: top, ground: canvas.pixels, crops }
}

function drawGround(canvas: Canvas, { ground }: City, toPixel: (p: readonly [number, number]) => Point): string[] {
  const crops = [...new Set(ground.fields.map((field) => field.crop))].toSorted()
  for (const { polygon, crop } of ground.fields)
    canvas.paint(
      polygon.map((ring) => ring.map(toPixel)),
      GROUND.field + crops.indexOf(crop),
    )
  const layers = [
    [ground.forest, GROUND.forest],
    [ground.town, GROUND.garden],
    [ground.industry, GROUND.industry],
    [ground.park, GROUND.meadow],
    [ground.water, GROUND.water],
  ] as const
  for (const [polygons, value] of layers) {
    for (const polygon of polygons)
      canvas.paint(
        polygon.map((ring) => ring.map(toPixel)),
        value,
      )
  }
  return crops
}

/** Draws railways under roads, and roads under roofs. */
function drawWays(
  canvas: Canvas,
  elements: readonly CityElement[],
  toPixel: (p: readonly [number, number]) => Point,
): void {
  const places = new Map<number, Point>()
  for (const element of elements)
    if (element.type === 'node') places.set(element.id, toPixel([element.lon, element.lat]))
  const ways = new Map<number, { tags: CityTags; line: Point[]; closed: boolean }>()
  for (const element of elements) {
    if (element.type !== 'way') continue
    const line = element.refs.map((ref) => places.get(ref)).filter((point) => point !== undefined)
    ways.set(element.id, { tags: element.tags, line, closed: element.refs[0] === element.refs.at(-1) })
  }
  for (const { tags, line } of ways.values()) {
    if (tags['tunnel'] === 'yes') continue
    const isTrack = tags['highway'] === 'track'
    const half = isTrack ? 1.5 : tags['railway'] === 'rail' ? 2.5 : ROADS[tags['highway'] ?? '']
    if (half === undefined) continue
    canvas.stroke(
      line,
      half / SCENE.metresPerPixel,
      isTrack ? GROUND.track : tags['railway'] ? GROUND.rail : GROUND.road,
    )
  }
  for (const { tags, line, closed } of ways.values()) if (tags['building'] && closed) canvas.paint([line], GROUND.roof)
  // Houses around a courtyard are relations of closed ways in the town's data.
  for (const element of elements) {
    if (element.type !== 'relation' || !element.tags['building']) continue
    canvas.paint(
      element.members.map((member) => ways.get(member.ref)?.line ?? []),
      GROUND.roof,
    )
  }
}

/** A square of values to draw polygons and lines on. */
class Canvas {
  readonly size: number
  readonly pixels: Uint8Array

  constructor(size: number) {
    this.size = size
    this.pixels = new Uint8Array(size * size)
  }

  /** Fills rings by the even-odd rule, at the middle of each pixel. */
  paint(rings: readonly (readonly Point[])[], value: number): void {
    let top = Infinity
    let bottom = -Infinity
    for (const ring of rings) {
      for (const [, y] of ring) {
        top = Math.min(top, y)
        bottom = Math.max(bottom, y)
      }
    }
    for (let row = Math.max(0, Math.floor(top)); row < Math.min(this.size, Math.ceil(bottom)); row++) {
      const crossings = crossingsAt(rings, row + 0.5)
      for (let i = 0; i + 1 < crossings.length; i += 2) {
        const from = Math.max(0, Math.round(crossings[i] as number))
        const to = Math.min(this.size, Math.round(crossings[i + 1] as number))
        if (to > from) this.pixels.fill(value, row * this.size + from, row * this.size + to)
      }
    }
  }

  /** Draws a line of a half width in pixels, with round ends. */
  stroke(line: readonly Point[], half: number, value: number): void {
    for (let i = 0; i + 1 < line.length; i++) {
      const [x1, y1] = line[i] as Point
      const [x2, y2] = line[i + 1] as Point
      const length2 = (x2 - x1) ** 2 + (y2 - y1) ** 2
      const rows = [Math.min(y1, y2) - half, Math.max(y1, y2) + half] as const
      const columns = [Math.min(x1, x2) - half, Math.max(x1, x2) + half] as const
      for (let y = Math.max(0, Math.floor(rows[0])); y < Math.min(this.size, Math.ceil(rows[1])); y++) {
        for (let x = Math.max(0, Math.floor(columns[0])); x < Math.min(this.size, Math.ceil(columns[1])); x++) {
          const px = x + 0.5 - x1
          const py = y + 0.5 - y1
          const t = length2 === 0 ? 0 : Math.max(0, Math.min(1, (px * (x2 - x1) + py * (y2 - y1)) / length2))
          const dx = px - t * (x2 - x1)
          const dy = py - t * (y2 - y1)
          if (dx * dx + dy * dy <= half * half) this.pixels[y * this.size + x] = value
        }
      }
    }
  }
}

function crossingsAt(rings: readonly (readonly Point[])[], y: number): number[] {
  const crossings: number[] = []
  for (const ring of rings) {
    for (let i = 0, j = ring.length - 1; i < ring.length; j = i++) {
      const [x1, y1] = ring[j] as Point
      const [x2, y2] = ring[i] as Point
      if (y1 > y !== y2 > y) crossings.push(x1 + ((y - y1) / (y2 - y1)) * (x2 - x1))
    }
  }
  return crossings.toSorted((a, b) => a - b)
}
