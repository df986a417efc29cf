// A warm call through the host, compared with the same call through a minimal proxy to the same process: requests per
// second at 32 connections, CPU of the proxying process per request, and the latency that the host adds at one
// connection.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Client } from 'undici'
import { load } from './support/load.ts'
import { ANON_KEY, address, cpuMicros, instanceSockets, median, quantile, startHost } from './support/host.ts'

const ROUNDS = 9
const SECONDS = 2
const CONNECTIONS = 32
const SINGLE_BATCHES = 20
const SINGLE_CALLS = 300
const BODY = '{"a":7}'
const ANSWER = '{"ok":true,"n":7}'
const headers = { 'content-type': 'application/json', apikey: ANON_KEY, authorization: `Bearer ${ANON_KEY}` }

await using host = await startHost({
  hello: {
    source: `Deno.serve(async (req: Request) => Response.json({ ok: true, n: (await req.json()).a }))`,
    policy: { max: 1 },
  },
})
const check = await fetch(host.url('hello'), { method: 'POST', headers, body: BODY })
assert.equal(await check.text(), ANSWER)
const socket = instanceSockets(host)[0]!
const proxy = spawn(process.execPath, [fileURLToPath(new URL('./support/proxy.ts', import.meta.url)), socket], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
const proxyUrl = await address(proxy)

const sides = [
  { name: 'host', url: host.url('hello'), pid: host.pid, rps: [] as number[], micros: [] as number[] },
  { name: 'proxy', url: `${proxyUrl}/hello`, pid: proxy.pid!, rps: [] as number[], micros: [] as number[] },
]
for (let round = 0; round <= ROUNDS; round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    const before = cpuMicros(side.pid)
    const answered = await load({
      url: side.url,
      headers,
      body: BODY,
      connections: CONNECTIONS,
      seconds: SECONDS,
      expected: ANSWER,
    })
    if (round === 0) continue
    side.rps.push(answered / SECONDS)
    side.micros.push((cpuMicros(side.pid) - before) / answered)
  }
}
const [ours, peer] = sides as [(typeof sides)[0], (typeof sides)[0]]
console.log(`warm, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s, interleaved`)
for (const { name, rps, micros } of sides)
  console.log(
    `  ${name.padEnd(6)} ${median(rps).toFixed(0)} requests/s   ${median(micros).toFixed(1)} µs CPU per request (best ${Math.min(...micros).toFixed(1)})`,
  )
console.log(`  RATIO requests/s host ÷ proxy      ${(median(ours.rps) / median(peer.rps)).toFixed(2)}   (goal ≥ 0.95)`)
console.log(
  `  RATIO CPU proxy ÷ host             ${(median(peer.micros) / median(ours.micros)).toFixed(2)}   (goal ≥ 0.95)`,
)

// One connection: the function asked directly, and through the host.
const direct = new Client('http://function', { socketPath: socket })
const through = new Client(new URL(host.url('hello')).origin)
const paths = [
  { client: direct, path: '/hello', times: [] as number[] },
  { client: through, path: '/functions/v1/hello', times: [] as number[] },
]
for (let batch = 0; batch <= SINGLE_BATCHES; batch++) {
  for (const { client, path, times } of paths) {
    for (let i = 0; i < SINGLE_CALLS; i++) {
      const begun = performance.now()
      const { body, statusCode } = await client.request({ path, method: 'POST', headers, body: BODY })
      const text = await body.text()
      if (batch > 0) times.push(performance.now() - begun)
      if (i === 0) assert.deepEqual([statusCode, text], [200, ANSWER])
    }
  }
}
const [alone, hosted] = paths as [(typeof paths)[0], (typeof paths)[0]]
const added = median(hosted.times) - median(alone.times)
console.log(`one connection, ${SINGLE_BATCHES} × ${SINGLE_CALLS} calls each, interleaved`)
for (const [name, { times }] of [
  ['direct', alone],
  ['host', hosted],
] as const)
  console.log(`  ${name.padEnd(6)} p50 ${median(times).toFixed(3)} ms   p99 ${quantile(times, 0.99).toFixed(3)} ms`)
console.log(`  ADDED p50 ${added.toFixed(3)} ms   (goal ≤ 0.25)`)
await Promise.all([direct.close(), through.close()])
proxy.disconnect()
