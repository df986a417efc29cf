// Calls that compute, made at once: how long they take together, compared with what two cores could do at best. On a busy
// machine this shows the machine; the share of the calls and the idle time of each process show the scheduling.
import assert from 'node:assert/strict'
import { ANON_KEY, median, startHost } from './support/host.ts'

const CALLS = 24
const CPU_MS = 200
const CORES = 2
const ROUNDS = 5
const IDEAL_MS = (CALLS * CPU_MS) / CORES
const source = `const used = () => { const { user, system } = process.cpuUsage(); return user + system }
Deno.serve(() => { const begun = Date.now(); const end = used() + ${CPU_MS * 1000}; while (used() < end); return Response.json([Deno.pid, begun, Date.now()]) })`

/** Process of a call, and when it began and ended there. */
type Span = readonly [pid: number, begun: number, ended: number]

await using host = await startHost({
  computes: { source, policy: { max: CORES, block_ms: 30_000, timeout_ms: 120_000 } },
})
const call = async () => (await (await fetch(host.url('computes'), { headers: { apikey: ANON_KEY } })).json()) as Span
const times: number[] = []
let spans: Span[] = []
for (let round = 0; round <= ROUNDS; round++) {
  const begun = performance.now()
  spans = await Promise.all(Array.from({ length: CALLS }, call))
  times.push(performance.now() - begun)
  assert(spans.every((span) => Array.isArray(span)))
}
const [first = 0, ...later] = times
console.log(`${CALLS} calls of ${CPU_MS} ms CPU at once; ${CORES} cores could do them in ${IDEAL_MS} ms`)
for (const [label, ms] of [
  ['without a process', first],
  ['later, median', median(later)],
] as const)
  console.log(`  ${label.padEnd(18)} ${ms.toFixed(0)} ms   RATIO ${(ms / IDEAL_MS).toFixed(2)}   (goal ≤ 1.5)`)
for (const [pid, own] of Map.groupBy(spans, ([process]) => process)) {
  const sorted = own.toSorted((a, b) => a[1] - b[1])
  const idle = sorted.slice(1).reduce((sum, [, begun], i) => sum + Math.max(0, begun - sorted[i]![2]), 0)
  console.log(`  last round: process ${pid} computed ${own.length} calls, idle between them ${idle} ms`)
}
