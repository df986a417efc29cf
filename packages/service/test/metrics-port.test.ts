import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

async function start(port: number) {
  const child = fork(join(import.meta.dirname, 'fixtures/metered.ts'), {
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { TERRANE_METRICS_PORT: String(port) },
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

test('metrics have a port of their own, where nothing else is, and stay closed on the other one', async () => {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  const [{ url }] = (await once(await start(port), 'message')) as [{ url: string }]
  const own = `http://127.0.0.1:${port}`
  const shown = await fetch(`${own}/metrics`)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
  expect(await shown.text()).toContain('process_resident_memory_bytes{app="metered"}')
  expect((await fetch(own)).status).toBe(404)
  expect((await fetch(`${own}/metrics`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
})

test('a port of the metrics that another program has ends the start and is named', async () => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  onTestFinished(() => void taken.close())
  const { port } = taken.address() as AddressInfo
  const child = await start(port)
  let told = ''
  child.stderr!.on('data', (chunk) => (told += String(chunk)))
  expect(await once(child, 'exit')).toEqual([1, null])
  expect(told).toContain(`127.0.0.1:${port}`)
})
