import assert from 'node:assert/strict'
import { parseArgs } from 'node:util'

import { seededRandom } from '@terrane/core'

import { type Action, type Mode, type Network, Router } from '../src/index.ts'
import { DEFAULT_LIMITS } from '../src/request/limits.ts'
import { quantile } from '../test/support/compare.ts'
import { buildExtract, findExtracts } from './support/extracts.ts'
import { openValhalla, type Valhalla } from './support/valhalla.ts'

// Matrices, tours and isochrones of Terrane and Valhalla in alternating runs, from request text to response text: CPU
// of the process, as the median of some rounds after a warm-up. Then matrix cells compared with routes, and positions
// on streets compared with contours. `node services.bench.ts porto --rounds 5`
const { values, positionals } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, modes: { type: 'string', default: 'auto' } },
  allowPositionals: true,
})
const rounds = Number(values.rounds)
const modes = values.modes.split(',') as Mode[]
const PAIRS = 1_000_000
const limits = { ...DEFAULT_LIMITS, matrix: { ...DEFAULT_LIMITS.matrix, pairs: PAIRS } }

interface Place {
  readonly lon: number
  readonly lat: number
}
interface Matrix {
  readonly sources_to_targets: readonly (readonly { time: number | null; distance: number | null }[])[]
}
interface Area {
  readonly properties: { readonly contour: number }
  readonly geometry: { readonly type: string; readonly coordinates: never }
}

for (const extract of findExtracts(positionals.length > 0 ? positionals : ['porto'])) {
  const network = await buildExtract(extract)
  const valhalla = openValhalla(extract, { pairs: PAIRS })
  const router = new Router(network, { limits })
  const random = seededRandom(20261123)
  const place = (): Place => {
    const node = Math.floor(random() * network.graph.nodeCount)
    return { lon: network.graph.nodeLon[node]! / 1e7, lat: network.graph.nodeLat[node]! / 1e7 }
  }
  for (const costing of modes) {
    for (const count of [50, 100]) await compareMatrices(router, valhalla, { costing, count, place })
    await compareTours(router, valhalla, { costing, count: 50, place })
    largeMatrix(router, costing, place)
    cellsAreRoutes(router, costing, place)
    for (const minutes of [10, 30]) await compareIsochrones({ router, valhalla, network }, costing, minutes)
  }
  await router.close()
}

/** CPU time of the process for some work, in milliseconds, and its result. */
async function timed<T>(work: () => T | Promise<T>): Promise<{ ms: number; result: T }> {
  const began = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(began)
  return { ms: (user + system) / 1000, result }
}

/** Median times of both in alternating runs, and their last answers. */
async function inTurns(
  router: Router,
  action: Exclude<Action, 'tile'>,
  text: string,
  peer: ((text: string) => Promise<string>) | null,
): Promise<{ mine: string; theirs: string | null }> {
  const times: { mine: number[]; theirs: number[] } = { mine: [], theirs: [] }
  let mine = router.answer(text, action).body
  let theirs: string | null = null
  for (let round = 0; round < rounds; round++) {
    const own = await timed(() => router.answer(text, action).body)
    times.mine.push(own.ms)
    mine = own.result
    if (peer === null) continue
    const other = await timed(() => peer(text))
    times.theirs.push(other.ms)
    theirs = other.result
  }
  const [a, b] = [quantile(times.mine, 0.5), quantile(times.theirs, 0.5)]
  console.log(
    `  Terrane ${a.toFixed(0)} ms CPU${peer === null ? '' : `, Valhalla ${b.toFixed(0)} ms, RATIO ${(b / a).toFixed(1)}`}`,
  )
  return { mine, theirs }
}

interface MatrixCase {
  readonly costing: Mode
  readonly count: number
  readonly place: () => Place
}

async function compareMatrices(router: Router, valhalla: Valhalla | null, one: MatrixCase): Promise<void> {
  const { costing, count, place } = one
  const places = (): Place[] => Array.from({ length: count }, place)
  console.log(`${costing}, matrix of ${count} × ${count}`)
  const text = JSON.stringify({ sources: places(), targets: places(), costing })
  const { mine, theirs } = await inTurns(router, 'sources_to_targets', text, valhalla && ((t) => valhalla.matrix(t)))
  if (theirs === null) return
  const [ours, other] = [mine, theirs].map((answer) => (JSON.parse(answer) as Matrix).sources_to_targets.flat())
  const onlyOne = [0, 0]
  const ratios: number[] = []
  ours!.forEach((cell, i) => {
    const peer = other![i]!
    if (cell.time === null && peer.time !== null) onlyOne[1]!++
    if (cell.time !== null && peer.time === null) onlyOne[0]!++
    if (cell.time !== null && peer.time !== null && peer.time > 0) ratios.push(cell.time / peer.time)
  })
  const alike = ratios.filter((ratio) => Math.abs(ratio - 1) <= 0.03).length / ratios.length
  const nothing = ours!.filter((cell, i) => cell.time === null && other![i]!.time === null).length
  console.log(
    `  of ${ours!.length} cells ${nothing} without a route in both, ${onlyOne[0]} found here only, ${onlyOne[1]} there only; ` +
      `${(100 * alike).toFixed(1)} % of times within 3 %`,
  )
  assert(alike > 0.9)
}

/** A tour from the first of some locations to the last, compared with the matrix for it. */
async function compareTours(router: Router, valhalla: Valhalla | null, one: MatrixCase): Promise<void> {
  const { costing, count, place } = one
  const drawn = Array.from({ length: 4 * count }, place)
  const matrix = JSON.stringify({ sources: drawn, targets: drawn, costing })
  const { sources_to_targets: cells } = JSON.parse(router.answer(matrix, 'sources_to_targets').body) as Matrix
  const kept: number[] = []
  for (const i of drawn.keys()) {
    const isJoined = kept.every((j) => cells[i]![j]!.time !== null && cells[j]![i]!.time !== null)
    if (isJoined && kept.length < count) kept.push(i)
  }
  console.log(`${costing}, tour over ${kept.length} places`)
  const text = JSON.stringify({ locations: kept.map((i) => drawn[i]), costing, directions_type: 'none' })
  const { mine, theirs } = await inTurns(
    router,
    'optimized_route',
    text,
    valhalla && ((t) => valhalla.optimizedRoute(t)),
  )
  const timeOf = (order: string): number => {
    const { trip } = JSON.parse(order) as { trip: { locations: readonly { original_index: number }[] } }
    const stops = trip.locations.map(({ original_index: i }) => kept[i]!)
    return stops.slice(1).reduce((sum, to, i) => sum + cells[stops[i]!]![to]!.time!, 0)
  }
  console.log(`  ${timeOf(mine)} s${theirs === null ? '' : `, Valhalla's order ${timeOf(theirs)} s`}`)
}

function largeMatrix(router: Router, costing: Mode, place: () => Place): void {
  const places = (): Place[] => Array.from({ length: 1000 }, place)
  const text = JSON.stringify({ sources: places(), targets: places(), costing, verbose: false })
  const before = process.memoryUsage.rss()
  let most = before
  const began = process.cpuUsage()
  let bytes = 0
  for (const part of router.work(text, 'sources_to_targets', { mayWait: false })) {
    bytes += part?.length ?? 0
    most = Math.max(most, process.memoryUsage.rss())
  }
  const { user, system } = process.cpuUsage(began)
  console.log(
    `${costing}, matrix of 1000 × 1000, slim: ${((user + system) / 1000).toFixed(0)} ms CPU (goal 2000), ` +
      `${(bytes / 1e6).toFixed(1)} MB of text, ${((most - before) / 1e6).toFixed(0)} MB more memory (goal 300)`,
  )
}

/** Compares 2,000 cells of matrices with single routes. */
function cellsAreRoutes(router: Router, costing: Mode, place: () => Place): void {
  let differ = 0
  let nothing = 0
  for (let i = 0; i < 20; i++) {
    const [sources, targets] = [0, 1].map(() => Array.from({ length: 10 }, place))
    const text = JSON.stringify({ sources, targets, costing })
    const matrix = JSON.parse(router.answer(text, 'sources_to_targets').body) as Matrix
    matrix.sources_to_targets.forEach((row, from) =>
      row.forEach((cell, to) => {
        const route = router.answer(JSON.stringify({ locations: [sources![from], targets![to]], costing }))
        const { trip } = JSON.parse(route.body) as { trip?: { summary: { time: number } } }
        if (trip === undefined) nothing++
        const seconds = trip === undefined ? null : trip.summary.time
        const isSame = cell.time === null ? seconds === null : seconds !== null && Math.abs(cell.time - seconds) <= 0.51
        if (!isSame) differ++
      }),
    )
  }
  console.log(`${costing}: of 2000 cells ${differ} differ from their route by more than rounding; ${nothing} have none`)
  assert.equal(differ, 0)
}

interface Sides {
  readonly router: Router
  readonly valhalla: Valhalla | null
  readonly network: Network
}

async function compareIsochrones({ router, valhalla, network }: Sides, costing: Mode, time: number): Promise<void> {
  const { nodeLon, nodeLat, nodeCount } = network.graph
  const middle = { lon: quantile(Array.from(nodeLon), 0.5) / 1e7, lat: quantile(Array.from(nodeLat), 0.5) / 1e7 }
  console.log(`${costing}, isochrone of ${time} minutes (goal 30 ms)`)
  const text = JSON.stringify({ locations: [middle], costing, contours: [{ time }], polygons: true })
  const { mine, theirs } = await inTurns(router, 'isochrone', text, valhalla && ((t) => valhalla.isochrone(t)))
  const random = seededRandom(time)
  const places: { place: Place; inside: boolean }[] = []
  for (let tries = 0; places.length < 1000 && tries < 20_000; tries++) {
    const node = Math.floor(random() * nodeCount)
    const place = { lon: nodeLon[node]! / 1e7, lat: nodeLat[node]! / 1e7 }
    const answer = router.answer(JSON.stringify({ locations: [middle, place], costing })).body
    const seconds = (JSON.parse(answer) as { trip?: { summary: { time: number } } }).trip?.summary.time
    if (seconds !== undefined && seconds <= time * 60 * 1.3) places.push({ place, inside: seconds <= time * 60 })
  }
  const wrong = (answer: string): string => {
    const polygons = (JSON.parse(answer) as { features: Area[] }).features.flatMap(polygonsOf)
    const missed = places.filter(({ place, inside }) => holds(polygons, place) !== inside).length
    return `${((100 * missed) / places.length).toFixed(2)} %`
  }
  console.log(
    `  of ${places.length} crossings up to 1.3 × the limit by route on the wrong side: Terrane ${wrong(mine)}` +
      (theirs === null ? '' : `, Valhalla ${wrong(theirs)}`),
  )
}

type Ring = readonly (readonly [number, number])[]

function polygonsOf({ geometry }: Area): readonly (readonly Ring[])[] {
  return geometry.type === 'Polygon' ? [geometry.coordinates as readonly Ring[]] : (geometry.coordinates as Ring[][])
}

function holds(polygons: readonly (readonly Ring[])[], { lon, lat }: Place): boolean {
  const inRing = (ring: Ring): boolean => {
    let inside = false
    for (let i = 1; i < ring.length; i++) {
      const [[ax, ay], [bx, by]] = [ring[i - 1]!, ring[i]!]
      if (ay > lat !== by > lat && lon < ((bx - ax) * (lat - ay)) / (by - ay) + ax) inside = !inside
    }
    return inside
  }
  return polygons.some(([outer, ...holes]) => inRing(outer!) && !holes.some(inRing))
}
