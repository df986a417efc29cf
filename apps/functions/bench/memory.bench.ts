// Memory of a warm function while twenty run: the proportional set size (PSS) of each process, so that shared pages
// count once.
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { ANON_KEY, instancePids, median, startHost } from './support/host.ts'

const COUNT = 20
const names = Array.from({ length: COUNT }, (_, i) => `fn-${i}`)
await using host = await startHost(
  Object.fromEntries(
    names.map((name) => [
      name,
      { source: `export default async (req: Request) => Response.json({ name: '${name}', got: await req.json() })` },
    ]),
  ),
)
for (const name of names) {
  for (let i = 0; i < 20; i++) {
    const response = await fetch(host.url(name), { method: 'POST', body: '{"a":1}', headers: { apikey: ANON_KEY } })
    assert.deepEqual(await response.json(), { name, got: { a: 1 } })
  }
}
await sleep(2000)
const pids = instancePids(host)
assert.equal(pids.length, COUNT)
const pss = pids.map(
  (pid) => Number(/^Pss: +(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'latin1'))![1]) / 1024,
)
const rss = (pid: number) => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]) / 1024
console.log(
  `${COUNT} warm functions: PSS median ${median(pss).toFixed(1)} MB, largest ${Math.max(...pss).toFixed(1)} MB each   (goal ≤ 16)`,
)
console.log(`host process: RSS ${rss(host.pid).toFixed(0)} MB`)
