import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const { probed, title } = await tryRuntime('deno', 'standard')

describe.skipIf(probed === null || process.platform !== 'linux')(`functions that compute on ${title}`, () => {
  let host: TestHost
  beforeAll(async () => {
    host = await startHost(probed!)
  })
  afterAll(() => host[Symbol.asyncDispose]())

  const instances = (name: string) => [...host.functions.get('test', name)!.pool]

  test('calls that compute are spread over instances, far below "concurrency"; calls that wait share one', async () => {
    const calls = async (name: string, count: number) =>
      Promise.all(Array.from({ length: count }, async () => (await fetch(host.url(name))).text()))
    const policy = { max: 3, block_ms: 10_000 }
    // It computes until a fixed amount of its own CPU time is used.
    const source = `const used = () => { const { user, system } = process.cpuUsage(); return user + system }
      Deno.serve(() => { const end = used() + 150_000; while (used() < end); return new Response(String(Deno.pid)) })`
    await host.deploy('computes', source, { policy })
    // On a busy machine another instance may start more slowly than twelve calls are answered: it answers later ones.
    const answered = new Set<string>()
    const spread = async () => {
      for (const pid of await calls('computes', 12)) answered.add(pid)
      return answered.size
    }
    await expect.poll(spread, { timeout: 30_000 }).toBeGreaterThan(1)
    await host.deploy(
      'waits',
      `let here = 0, all = Promise.withResolvers()
       Deno.serve(async () => { if (++here === 12) all.resolve(); await all.promise; return new Response(String(Deno.pid)) })`,
      { policy },
    )
    expect(new Set(await calls('waits', 12)).size).toBe(1)
  })

  test('an instance that is stopped, or gets no CPU, is not ended for the time that passes', async () => {
    await host.deploy('stopped', `Deno.serve(() => new Response(String(Deno.pid)))`, { policy: { block_ms: 300 } })
    await fetch(host.url('stopped'))
    const [instance] = instances('stopped')
    process.kill(instance!.pid, 'SIGSTOP')
    const calling = fetch(host.url('stopped'))
    await sleep(1500)
    process.kill(instance!.pid, 'SIGCONT')
    expect((await calling).status).toBe(200)
    expect(instances('stopped')).toEqual([instance])
    await host.deploy('loops', `Deno.serve(() => { for (;;); })`, { policy: { block_ms: 300 } })
    await host.deploy('sleeps', `Deno.serve(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0))`, {
      policy: { block_ms: 300 },
    })
    for (const name of ['loops', 'sleeps']) expect((await fetch(host.url(name))).status).toBe(546)
  })
})
