// Compares the same Express app as a function behind the host, in bare Deno called directly, and in bare Deno behind a
// minimal proxy: requests per second at 32 connections, and CPU of the process that runs Express.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installPeers } from '@terrane/testing/peers'
import { program, runBare } from './support/bare-deno.ts'
import { ANON_KEY, address, cpuMicros, instancePids, median, startHost } from './support/host.ts'
import { load } from './support/load.ts'

const ROUNDS = 9
const SECONDS = 2
const CONNECTIONS = 32
const BODY = '{"a":7}'
const ANSWER = '{"ok":true,"n":7}'
const headers = { 'content-type': 'application/json', apikey: ANON_KEY, authorization: `Bearer ${ANON_KEY}` }
const source = `import express from 'express'
const app = express()
app.use(express.json())
app.post('/shop', (req, res) => res.json({ ok: true, n: req.body.a }))
const server = app.listen(0, '127.0.0.1', () => console.log(server.address().port))
`

const packages = installPeers('functions')
if (packages === null) {
  console.log('SKIPPED: Express could not be installed (infra/peers/functions)')
  process.exit()
}
await using bare = await program(source, packages)
await using peer = await runBare(bare.file)
await using host = await startHost({ shop: { source, policy: { max: 1 } } }, {}, { packages })
const direct = `http://127.0.0.1:${await peer.firstLine}`
const proxy = spawn(process.execPath, [fileURLToPath(new URL('./support/proxy.ts', import.meta.url)), direct], {
  stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
})
const urls = { host: host.url('shop'), bare: `${direct}/shop`, proxied: `${await address(proxy)}/shop` }
for (const url of Object.values(urls)) {
  const answer = await fetch(url, { method: 'POST', headers, body: BODY })
  assert.equal(await answer.text(), ANSWER)
}
const sides = [
  { name: 'host', url: urls.host, pid: instancePids(host)[0]!, rps: [] as number[], micros: [] as number[] },
  { name: 'bare', url: urls.bare, pid: peer.pid, rps: [] as number[], micros: [] as number[] },
  { name: 'proxied', url: urls.proxied, pid: peer.pid, rps: [] as number[], micros: [] as number[] },
]
for (let round = 0; round <= ROUNDS; round++) {
  for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
    const before = cpuMicros(side.pid)
    const { url } = side
    const answered = await load({
      url,
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
console.log(`Express, ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s, interleaved`)
for (const { name, rps, micros } of sides)
  console.log(
    `  ${name.padEnd(8)} ${median(rps).toFixed(0)} requests/s   ${median(micros).toFixed(1)} µs CPU of Express' process per request`,
  )
const [ours, theirs, proxied] = sides as [(typeof sides)[0], (typeof sides)[0], (typeof sides)[0]]
const ratio = (label: string, above: readonly number[], below: readonly number[], goal = '') =>
  console.log(`  RATIO ${label.padEnd(29)} ${(median(above) / median(below)).toFixed(2)}${goal}`)
ratio('requests/s host ÷ bare', ours.rps, theirs.rps, '   (goal ≥ 0.9)')
ratio('requests/s host ÷ proxied', ours.rps, proxied.rps)
ratio('CPU bare ÷ host', theirs.micros, ours.micros)
ratio('CPU proxied ÷ host', proxied.micros, ours.micros)
proxy.disconnect()
