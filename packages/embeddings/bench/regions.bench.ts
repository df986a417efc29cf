// Joining map features with H3 cells, counting them, and training hex2vec, as the number of cells grows.
// Goals: >= 50,000 points/s and >= 10,000 polygons/s joined; the join equals brute force.
import { strict as assert } from 'node:assert'

import { seededRandom } from '@terrane/core'
import { latLngToCell } from 'h3-js'

import {
  CellIndex,
  type Geometry,
  type PolygonRings,
  type Position,
  type RegionFeature,
  coverArea,
  embedRegions,
  osmPreset,
} from '../src/srai/index.ts'

const [west, south, east, north] = [9.05, 45.38, 9.3, 45.54]
const area: PolygonRings = [
  [
    [west, south],
    [east, south],
    [east, north],
    [west, north],
    [west, south],
  ],
]
const random = seededRandom(1)
const somewhere = (): Position => [west + random() * (east - west), south + random() * (north - south)]

const points = Array.from({ length: 200_000 }, (): Geometry => ({ type: 'Point', coordinates: somewhere() }))
const buildings = Array.from({ length: 100_000 }, (): Geometry => ({
  type: 'Polygon',
  coordinates: [ring(somewhere(), 0.0002, 4 + Math.floor(random() * 6))],
}))
const lines = Array.from({ length: 50_000 }, (): Geometry => ({
  type: 'LineString',
  coordinates: walk(somewhere(), 0.002, 12),
}))
const woods = Array.from({ length: 2000 }, (): Geometry => ({
  type: 'Polygon',
  coordinates: [ring(somewhere(), 0.01, 200)],
}))

const filter = osmPreset('hex2vec')
const tags =
  filter.kind === 'keys'
    ? Object.entries(filter.keys).flatMap(([key, values]) =>
        values === true ? [] : values.map((value) => [key, value] as const),
      )
    : []
const features: RegionFeature[] = [...points, ...buildings, ...lines, ...woods].map((geometry) => {
  const [key, value] = tags[Math.floor(random() ** 3 * tags.length)]!
  return { tags: { [key]: value }, geometry }
})

checkAgainstH3()
for (const resolution of [8, 9, 10]) {
  const started = performance.now()
  const cells = coverArea({ area: [area], resolution })
  const covered = performance.now() - started
  const index = new CellIndex(cells)
  const rates = [
    rateOf('points', index, points),
    rateOf('buildings', index, buildings),
    rateOf('lines', index, lines),
    rateOf('woods', index, woods),
  ]
  console.log(
    `resolution ${resolution}: ${cells.length} cells covered in ${covered.toFixed(0)} ms; joined per second: ${rates.join(', ')}`,
  )
  for (const embedder of [{ kind: 'count' }, { kind: 'contextual-count', distance: 2 }, { kind: 'hex2vec' }] as const) {
    if (embedder.kind === 'hex2vec' && resolution > 9) continue
    await embed(cells, embedder)
  }
}

function rateOf(name: string, index: CellIndex, geometries: readonly Geometry[]): string {
  const started = performance.now()
  let hits = 0
  for (const geometry of geometries) hits += index.find(geometry)
  const perSecond = (geometries.length * 1000) / (performance.now() - started)
  assert(hits >= geometries.length * 0.99)
  return `${Math.round(perSecond / 1000)}k ${name} (${(hits / geometries.length).toFixed(1)} cells each)`
}

async function embed(
  cells: readonly string[],
  embedder: Parameters<typeof embedRegions>[0]['embedder'],
): Promise<void> {
  const started = performance.now()
  const { dims, read, losses } = await embedRegions({ cells, features, filter, embedder })
  const row = new Float64Array(dims)
  for (let i = 0; i < cells.length; i++) read(i, row)
  const seconds = (performance.now() - started) / 1000
  const loss = losses.length > 0 ? `, loss ${losses[0]!.toFixed(3)} → ${losses.at(-1)!.toFixed(3)}` : ''
  console.log(
    `  ${embedder.kind}: ${dims} dims, ${seconds.toFixed(1)} s${loss}, rss ${(process.memoryUsage().rss / 1e6).toFixed(0)} MB`,
  )
}

/** H3 returns the same cell for points away from borders, and the join is faster than H3. */
function checkAgainstH3(): void {
  const cells = coverArea({ area: [area], resolution: 9 })
  const index = new CellIndex(cells)
  const started = performance.now()
  const ours = points.map((point) => (index.find(point) === 1 ? cells[index.hits[0]!] : null))
  const between = performance.now()
  const theirs = points.map((point) =>
    point.type === 'Point' ? latLngToCell(point.coordinates[1], point.coordinates[0], 9) : null,
  )
  const [join, h3] = [between - started, performance.now() - between]
  const same = ours.filter((cell, i) => cell === theirs[i]).length
  assert(same > points.length * 0.999)
  console.log(
    `points at resolution 9: join ${join.toFixed(0)} ms, h3-js latLngToCell ${h3.toFixed(0)} ms, RATIO ${(h3 / join).toFixed(1)}`,
  )
}

function ring([x, y]: Position, radius: number, corners: number): Position[] {
  const out = Array.from({ length: corners }, (_, i): Position => {
    const reach = radius * (0.6 + 0.4 * random())
    return [x + reach * Math.cos((2 * Math.PI * i) / corners), y + reach * 0.7 * Math.sin((2 * Math.PI * i) / corners)]
  })
  return [...out, out[0]!]
}

function walk(start: Position, step: number, steps: number): Position[] {
  const out = [start]
  for (let i = 0; i < steps; i++) out.push([out[i]![0] + (random() - 0.5) * step, out[i]![1] + (random() - 0.5) * step])
  return out
}
