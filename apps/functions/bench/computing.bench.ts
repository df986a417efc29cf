// Calls that compute, made at once: how long they take together, compared with what two cores could do at best.
import assert from 'node:assert/strict'
import { ANON_KEY, median, startHost } from './support/host.ts'

const CALLS = 24
const CPU_MS = 200
const CORES = 2
const ROUNDS = 5
const IDEAL_MS = (CALLS * CPU_MS) / CORES
const source = `const used = () => { const { user, system } = process.cpuUsage(); return user + system }
Deno.serve(() => { const end = used() + ${CPU_MS * 1000}; while (used() < end); return new Response('computed') })`

await using host = await startHost({ computes: { source, policy: { max: CORES, block_ms: 10_000 } } })
const call = async () => (await fetch(host.url('computes'), { headers: { apikey: ANON_KEY } })).text()
const times: number[] = []
for (let round = 0; round <= ROUNDS; round++) {
  const begun = performance.now()
  const answers = await Promise.all(Array.from({ length: CALLS }, call))
  times.push(performance.now() - begun)
  assert(answers.every((text) => text === 'computed'))
}
const [first = 0, ...later] = times
console.log(`${CALLS} calls of ${CPU_MS} ms CPU at once; ${CORES} cores could do them in ${IDEAL_MS} ms`)
for (const [label, ms] of [
  ['without a process', first],
  ['later, median', median(later)],
] as const)
  console.log(`  ${label.padEnd(18)} ${ms.toFixed(0)} ms   RATIO ${(ms / IDEAL_MS).toFixed(2)}   (goal ≤ 1.5)`)
