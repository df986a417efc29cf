// Measures how soon functions in endless loops are ended, and how much they slow another function down.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANON_KEY, median, quantile, startHost } from './support/host.ts'

const BLOCK_MS = 500
const SECONDS = 6
await using host = await startHost({
  neighbour: { source: `export default () => new Response('fine')`, policy: { min: 1, max: 1 } },
  attacker: { source: `export default () => { while (true); }`, policy: { block_ms: BLOCK_MS, max: 8 } },
})
const call = async (name: string) => fetch(host.url(name), { headers: { apikey: ANON_KEY } })
await (await call('neighbour')).text()

for (const attackers of [0, 1, 10]) {
  const stop = new AbortController()
  const ended: number[] = []
  const attacks = Array.from({ length: attackers }, async () => {
    while (!stop.signal.aborted) {
      const begun = performance.now()
      const response = await call('attacker')
      await response.text()
      if (response.status === 546) ended.push(performance.now() - begun)
      else await sleep(50)
    }
  })
  const times: number[] = []
  let failed = 0
  const until = performance.now() + SECONDS * 1000
  while (performance.now() < until) {
    const begun = performance.now()
    const response = await call('neighbour')
    if (response.status !== 200 || (await response.text()) !== 'fine') failed++
    times.push(performance.now() - begun)
    await sleep(5)
  }
  stop.abort()
  await Promise.all(attacks)
  assert.equal(failed, 0)
  const loops =
    ended.length === 0
      ? ''
      : `; ${ended.length} loops ended after ${median(ended).toFixed(0)} ms (block_ms ${BLOCK_MS}, a cold start and the queue included)`
  console.log(
    `${String(attackers).padStart(2)} attackers: neighbour ${times.length} calls, 0 failed, p50 ${median(times).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, worst ${Math.max(...times).toFixed(0)} ms${loops}`,
  )
}
