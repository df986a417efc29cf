// 50 keep-alive connections send mixed requests: of 100 requests 80 routes, 8 matrices of 10 × 10, 4 isochrones of five
// minutes, 4 places and 4 states. Reports errors, memory, and the duration of routes in the mix and alone, which is
// measured first for a fifth of the time.
//   mix.bench.ts [extract.osm.pbf | -] [seconds]
import { quantile, startRouter } from './harness.ts'

const [extract = '-', seconds = '30'] = process.argv.slice(2)
const CONNECTIONS = 50
const SAMPLE_MS = 5000
const MODES = ['auto', 'auto', 'bicycle', 'pedestrian', 'truck']

interface Ask {
  readonly action: string
  readonly body: string
  /** Text that its answer contains. */
  readonly holds: string
}

await using router = await startRouter(extract === '-' ? undefined : extract, CONNECTIONS)
const places = (count: number) => Array.from({ length: count }, () => router.place())
const routes = Array.from({ length: 2000 }, (_, i): Ask => {
  return { action: 'route', body: router.randomBody(MODES[i % MODES.length]), holds: '"trip"' }
})
const others = (action: string, holds: string, count: number, body: () => unknown): Ask[] =>
  Array.from({ length: count }, () => ({ action, holds, body: JSON.stringify(body()) }))
const mixed = [
  ...routes,
  ...others('sources_to_targets', '"sources_to_targets"', 200, () => ({
    sources: places(10),
    targets: places(10),
    costing: 'auto',
  })),
  ...others('isochrone', '"FeatureCollection"', 100, () => ({
    locations: places(1),
    costing: 'auto',
    contours: [{ time: 5 }],
  })),
  ...others('locate', '"edges"', 100, () => ({ locations: places(2), costing: 'auto' })),
  ...others('status', '"available_actions"', 100, () => ({})),
]
// Spreads the kinds evenly: a step without a common factor with the count visits every entry.
const shuffled = mixed.map((_, i) => mixed[(i * 1009) % mixed.length]!)

await run(routes, 10)
const alone = await run(routes, Number(seconds) / 5)
const load = await run(shuffled, Number(seconds))
const drift = load.memory.at(-1)! / load.memory[Math.floor(load.memory.length / 5)]! - 1
const p99 = (times: ReadonlyMap<string, number[]>): number => quantile(times.get('route')!, 0.99)

const count = [...load.times.values()].reduce((sum, list) => sum + list.length, 0)
console.log(`${count} answers in ${seconds} s over ${CONNECTIONS} connections, ${alone.errors + load.errors} errors`)
for (const [action, times] of load.times) {
  const [middle, slow] = [0.5, 0.99].map((share) => quantile(times, share).toFixed(0))
  console.log(`  ${action}: ${times.length}, p50 ${middle} ms, p99 ${slow} ms`)
}
console.log(`RSS ${load.memory.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(' ')} MiB`)
console.log(`RSS drift after the first fifth: ${(100 * drift).toFixed(1)} % (goal < 5 %)`)
console.log(
  `p99 of routes alone ${p99(alone.times).toFixed(0)} ms, mixed ${p99(load.times).toFixed(0)} ms; ` +
    `RATIO ${(p99(load.times) / p99(alone.times)).toFixed(2)} (goal ≤ 2)`,
)
if (alone.errors + load.errors > 0) throw new Error('some requests had no answer')

async function run(asks: readonly Ask[], duration: number) {
  const times = new Map<string, number[]>()
  const memory: number[] = []
  const end = performance.now() + duration * 1000
  let errors = 0
  let next = 0
  const sampler = setInterval(() => void router.rss().then((bytes) => memory.push(bytes)), SAMPLE_MS)
  const client = async () => {
    while (performance.now() < end) {
      const { action, body, holds } = asks[next++ % asks.length]!
      try {
        const answer = await router.post(body, action)
        const list = times.get(action)
        if (list === undefined) times.set(action, [answer.ms])
        else list.push(answer.ms)
        // That no path joins two places is a valid answer.
        const isNoPath = action === 'route' && answer.status === 400 && answer.body.includes('"error_code":442')
        if (!isNoPath && (answer.status !== 200 || !answer.body.includes(holds))) errors++
      } catch {
        errors++
      }
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, client))
  clearInterval(sampler)
  memory.push(await router.rss())
  return { times, memory, errors }
}
