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

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as AddressInfo
  probe.close()
  await once(probe, 'close')
  return port
}

test('metrics have a port of their own, where nothing else is, and stay closed on the other one', async () => {
  const port = await freePort()
  const [{ url }] = (await once(await start(port), 'message')) as [{ url: string }]
  const own = `http://127.0.0.1:${port}`
  const shown = await fetch(`${own}/metrics`)
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, expect.stringContaining('text/plain')])
  expect(await shown.text()).toContain('process_resident_memory_bytes{app="metered"}')
  expect((await fetch(own)).status).toBe(404)
  expect((await fetch(`${own}/metrics`, { method: 'POST' })).status).toBe(404)
  expect((await fetch(`${url}/metrics`)).status).toBe(401)
})

test('metrics whose database refuses or hangs are served with the age of their last values, and the process lives', async () => {
  const port = await freePort()
  const child = await start(port)
  await once(child, 'message')
  const scrape = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`)
    expect(answer.status).toBe(200)
    const text = await answer.text()
    const value = (series: string) => {
      const line = text.split('\n').find((one) => one.startsWith(`${series} `))
      return Number(line?.slice(series.length))
    }
    return {
      values: ['refused', 'hanging'].map((name) => value(`of_${name}{app="metered"}`)),
      ages: ['refused', 'hanging'].map((name) =>
        value(`terrane_metric_age_seconds{metric="of_${name}",app="metered"}`),
      ),
    }
  }
  let { values, ages } = await scrape()
  expect(values).toEqual([7, 7])
  for (let n = 0; n < 3; n++) {
    const later = await scrape()
    expect(later.values).toEqual([7, 7])
    for (const i of [0, 1]) expect(later.ages[i]).toBeGreaterThan(ages[i]!)
    ;({ ages } = later)
  }
  expect(child.exitCode).toBeNull()
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
