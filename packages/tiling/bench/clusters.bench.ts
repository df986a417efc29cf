// Clustering of points by this package and by supercluster: time, and memory beyond that of the points; each run in a
// process of its own. Both sum an attribute.
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '@terrane/core'
import Supercluster from 'supercluster'
import type { ClusterRecords } from '../src/vector/points/cluster-record.ts'
import { PointClusters } from '../src/vector/points/point-clusters.ts'
import { worldX, worldY } from '../src/vector/world.ts'

const ROUNDS = 3
const MAX_ZOOM = 12
const RADIUS = 40
const SIZES = [100_000, 1_000_000]
const TOWNS = 400

interface Run {
  readonly seconds: number
  readonly bytes: number
  /** Number of points and clusters at each zoom, from the highest down. */
  readonly shown: readonly number[]
  readonly sums: readonly number[]
}

const [who, count] = process.argv.slice(2)
if (who) process.stdout.write(JSON.stringify(who === 'ours' ? ours(Number(count)) : theirs(Number(count))))
else for (const size of SIZES) compare(size)

function compare(size: number): void {
  const best = { ours: measured('ours', size), theirs: measured('theirs', size) }
  for (let i = 1; i < ROUNDS; i++) {
    for (const name of ['ours', 'theirs'] as const) {
      const next = measured(name, size)
      if (next.seconds < best[name].seconds) best[name] = next
    }
  }
  for (const [i, own] of best.ours.shown.entries()) {
    const peer = best.theirs.shown[i]!
    if (Math.abs(own - peer) > Math.max(2, 0.2 * peer))
      throw new Error(`zoom ${MAX_ZOOM - i}: ${own}, not about ${peer}`)
    if (best.ours.sums[i] !== size || best.theirs.sums[i] !== size)
      throw new Error(`zoom ${MAX_ZOOM - i} counts otherwise`)
  }
  const line = ({ seconds, bytes }: Run) => `${seconds.toFixed(2)} s, ${Math.round(bytes / size)} bytes a point`
  console.log(`${size} points: ours ${line(best.ours)}; supercluster ${line(best.theirs)}`)
  const [time, memory] = [best.ours.seconds / best.theirs.seconds, best.ours.bytes / best.theirs.bytes]
  console.log(
    `  time ${time.toFixed(2)}, memory ${memory.toFixed(2)} of supercluster's; as many points at every zoom within a fifth`,
  )
}

function measured(name: string, size: number): Run {
  const args = ['--expose-gc', fileURLToPath(import.meta.url), name, String(size)]
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8', maxBuffer: 1 << 24 })) as Run
}

/** Longitudes and latitudes around towns, flat. */
function pointsOf(size: number): Float64Array {
  const random = seededRandom(7)
  const towns = Array.from({ length: TOWNS }, () => [random() * 300 - 150, random() * 120 - 60] as const)
  const points = new Float64Array(2 * size)
  for (let i = 0; i < size; i++) {
    const [lng, lat] = towns[Math.floor(random() ** 2 * TOWNS)]!
    points[2 * i] = lng + (random() + random() + random() - 1.5) * 2
    points[2 * i + 1] = lat + random() + random() + random() - 1.5
  }
  return points
}

function timed(work: () => Pick<Run, 'shown' | 'sums'>): Run {
  globalThis.gc!()
  const before = process.memoryUsage.rss()
  const start = performance.now()
  const result = work()
  const seconds = (performance.now() - start) / 1000
  return { seconds, bytes: process.resourceUsage().maxRSS * 1024 - before, ...result }
}

function ours(size: number): Run {
  const points = pointsOf(size)
  return timed(() => {
    const aggregates = [{ attribute: 'one', operation: 'sum' }] as const
    const options = { layer: 'points', minZoom: 0, maxZoom: MAX_ZOOM, distance: RADIUS, minPoints: 2, aggregates }
    const clusters = new PointClusters(options)
    for (let i = 0; i < size; i++) clusters.add(worldX(points[2 * i]!), worldY(points[2 * i + 1]!), i, [1])
    const shown = Array.from({ length: MAX_ZOOM + 1 }, () => 0)
    const sums = Array.from({ length: MAX_ZOOM + 1 }, () => 0)
    // The sum of a cluster is stored under its address; addresses of clusters follow those of the points.
    const totals: number[] = []
    const records = {
      write: (_x: number, _y: number, _count: number, [sum]: readonly number[]) => size + totals.push(sum!) - 1,
    } as unknown as ClusterRecords
    clusters.show(records, (_x, _y, address, zoom) => {
      shown[MAX_ZOOM - zoom]!++
      sums[MAX_ZOOM - zoom]! += address < size ? 1 : totals[address - size]!
    })
    return { shown, sums }
  })
}

function theirs(size: number): Run {
  const points = pointsOf(size)
  return timed(() => {
    const peer = new Supercluster<{ one: number }, { one: number }>({
      radius: RADIUS,
      extent: 512,
      maxZoom: MAX_ZOOM,
      map: ({ one }) => ({ one }),
      reduce: (into, { one }) => {
        into.one += one
      },
    })
    peer.load(
      Array.from({ length: size }, (_, i) => ({
        type: 'Feature',
        properties: { one: 1 },
        geometry: { type: 'Point', coordinates: [points[2 * i]!, points[2 * i + 1]!] },
      })),
    )
    const shown: number[] = []
    const sums: number[] = []
    for (let zoom = MAX_ZOOM; zoom >= 0; zoom--) {
      const found = peer.getClusters([-180, -85, 180, 85], zoom)
      shown.push(found.length)
      sums.push(found.reduce((sum, { properties }) => sum + properties.one, 0))
    }
    return { shown, sums }
  })
}
