// Time from saving a file to the first new answer, while a client sends requests continuously.
import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANON_KEY, median, quantile, startHost } from './support/host.ts'

const SAVES = 40
await using host = await startHost(
  { hello: { source: `export default () => new Response('0')` } },
  // One process is kept ready, as by default.
  { TERRANE_SETTINGS: '{}' },
)
const call = async () => (await fetch(host.url('hello'), { headers: { apikey: ANON_KEY } })).text()
assert.equal(await call(), '0')
const times: number[] = []
for (let i = 1; i <= SAVES; i++) {
  const begun = performance.now()
  await writeFile(join(host.folder, 'functions/hello/index.ts'), `export default () => new Response('${i}')`)
  while ((await call()) !== String(i)) await sleep(2)
  times.push(performance.now() - begun)
  await sleep(50)
}
console.log(
  `saved → served, ${SAVES} saves: p50 ${median(times).toFixed(0)} ms, p95 ${quantile(times, 0.95).toFixed(0)} ms   (goal ≤ 300)`,
)
