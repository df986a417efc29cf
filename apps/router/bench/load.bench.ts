// 50 keep-alive connections request random routes: requests per second, latency, errors and growth of memory. For
// comparison, one thread of this process answers the same requests without HTTP, before and after.
//   load.bench.ts [extract.osm.pbf | -] [seconds]
import { Router } from '@terrane/routing'
import { quantile, startRouter } from './harness.ts'

const [extract = '-', seconds = '30'] = process.argv.slice(2)
const CONNECTIONS = 50
const MODES = ['auto', 'auto', 'auto', 'bicycle', 'pedestrian', 'truck']
const SAMPLE_MS = 5000

await using router = await startRouter(extract === '-' ? undefined : extract, CONNECTIONS)
const inProcess = new Router(router.network)
const bodies = Array.from({ length: 2000 }, (_, i) => router.randomBody(MODES[i % MODES.length]))

directRate()
const before = directRate()
const load = await run(Number(seconds) * 1000)
const after = directRate()
const direct = (before + after) / 2
const rate = load.times.length / Number(seconds)
const drift = load.memory.at(-1)! / load.memory[Math.floor(load.memory.length / 5)]! - 1

console.log(`${load.times.length} answers in ${seconds} s over ${CONNECTIONS} connections, ${load.errors} errors`)
console.log(`p50 ${quantile(load.times, 0.5).toFixed(1)} ms, p99 ${quantile(load.times, 0.99).toFixed(1)} ms`)
console.log(`RSS ${load.memory.map((bytes) => (bytes / 2 ** 20).toFixed(0)).join(' ')} MiB`)
console.log(`RSS drift after the first fifth: ${(100 * drift).toFixed(1)} %`)
console.log(`${rate.toFixed(0)} routes/s over HTTP, ${direct.toFixed(0)} routes/s in one thread without it`)
console.log(`RATIO over HTTP / in process: ${(rate / direct).toFixed(2)}`)
await inProcess.close()
if (load.errors > 0) throw new Error(`${load.errors} requests were not answered with a route`)

/** Routes per second of the router alone; also checks that every request has a route. */
function directRate(): number {
  const started = performance.now()
  for (const body of bodies) {
    const { status, body: answer } = inProcess.answer(body)
    if (status !== 200 && status !== 400) throw new Error(answer)
  }
  return (bodies.length / (performance.now() - started)) * 1000
}

async function run(milliseconds: number) {
  const times: number[] = []
  const memory: number[] = []
  // The server must answer like the router in this process.
  const expected = new Map(bodies.map((body) => [body, inProcess.answer(body).status]))
  const end = performance.now() + milliseconds
  let errors = 0
  let next = 0
  const sampler = setInterval(() => void router.rss().then((bytes) => memory.push(bytes)), SAMPLE_MS)
  const client = async () => {
    while (performance.now() < end) {
      const body = bodies[next++ % bodies.length]!
      try {
        const { status, ms } = await router.post(body)
        times.push(ms)
        if (status !== expected.get(body)) errors++
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
