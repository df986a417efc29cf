// Measures the first request to a function without a running process. The functions are deployed versions (with a
// sealed cache) of a few lines and of 1.2 MB, in the standard profile and, if bubblewrap is installed, in the hardened
// one, without and with a process that is kept ready for a small one. Reports the elapsed time and the CPU time of the new process, which depends little on other work on the machine.
// For comparison, bare Deno is started with the same code and gets a request as soon as it listens.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync } from 'node:fs'
import { startHost as startInProcess } from '../test/support/host.ts'
import { probeRuntime } from '../src/runtime/probe.ts'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { median, quantile } from './support/host.ts'
import { program, runBare } from './support/bare-deno.ts'
import { largeSource } from './support/large-source.ts'

const SAMPLES = 20
const users = process.getuid?.() === 0 ? { first: 230_000, count: 64 } : null
const GOALS: Readonly<Record<string, number>> = {
  'standard hello': 60,
  'standard large': 120,
  'hardened hello': 120,
  'hardened large': 180,
}
const hello = `export default () => new Response('hello')`
const large = largeSource(1_200_000)

const bareTimes: Record<string, number[]> = { hello: [], large: [] }
const bareCpu: Record<string, number[]> = { hello: [], large: [] }
await using stack = new AsyncDisposableStack()
const programs: Record<string, string> = {}
for (const [name, source] of [
  ['hello', hello],
  ['large', large],
] as const) {
  const served = source.replace('export default', 'const handler =')
  const listen = `Deno.serve({ port: 0, hostname: '127.0.0.1', onListen: ({ port }) => console.log(port) }, handler)`
  programs[name] = stack.use(await program(`${served}\n${listen}\n`)).file
}

/** Milliseconds from the start of bare Deno to its first answer, and its CPU time until then. */
async function bareCold(name: string): Promise<{ readonly ms: number; readonly cpu: number }> {
  await using deno = await runBare(programs[name]!)
  const answer = await fetch(`http://127.0.0.1:${await deno.firstLine}/`)
  assert.equal(await answer.text(), 'hello')
  return { ms: performance.now() - deno.started, cpu: cpuMs(deno.pid) }
}

for (const [profile, spares] of [
  ['standard', 0],
  ['standard', 1],
  ['hardened', 0],
  ['hardened', 1],
] as const) {
  let probed
  try {
    const stateDir = fileURLToPath(new URL('../../../.cache/functions/', import.meta.url))
    probed = await probeRuntime({
      runtime: 'deno',
      profile,
      stateDir,
      users,
      path: process.env['PATH'] ?? '',
    })
  } catch (error) {
    console.log(`${profile}: NOT MEASURED, ${(error as Error).message}`)
    continue
  }
  await using host = await startInProcess({ ...probed, spares })
  await host.deploy('hello', hello, { sealed: true })
  await host.deploy('large', large, { sealed: true })
  const times: Record<string, number[]> = { hello: [], large: [] }
  const cpu: Record<string, number[]> = { hello: [], large: [] }
  for (let sample = -2; sample < SAMPLES; sample++) {
    for (const name of ['hello', 'large']) {
      for (const instance of host.functions.get('test', name)!.pool) {
        instance.kill('idle')
        await instance.exited
      }
      if (sample > -2) while (host.factory.spares.pids.length < spares) await sleep(5)
      const begun = performance.now()
      const response = await fetch(host.url(name))
      const text = await response.text()
      const ms = performance.now() - begun
      if (sample >= 0) {
        times[name]!.push(ms)
        cpu[name]!.push(cpuMs([...host.functions.get('test', name)!.pool][0]!.pid))
      }
      assert.equal(text, 'hello')
      const bare = await bareCold(name)
      if (sample < 0) continue
      bareTimes[name]!.push(bare.ms)
      bareCpu[name]!.push(bare.cpu)
    }
  }
  for (const [name, values] of Object.entries(times)) {
    const size = name === 'hello' ? hello.length : large.length
    const bare = median(bareTimes[name]!.splice(0))
    const bareCpuMs = median(bareCpu[name]!.splice(0))
    console.log(
      `${profile.padEnd(8)} ${name.padEnd(5)} (${size} bytes, ${spares} kept ready)  cold p50 ${median(values).toFixed(0)} ms, p10 ${quantile(values, 0.1).toFixed(0)}, p90 ${quantile(values, 0.9).toFixed(0)}, best ${Math.min(...values).toFixed(0)}; CPU p50 ${median(cpu[name]!).toFixed(0)} ms   (goal p50 ≤ ${GOALS[`${profile} ${name}`]})\n         RATIO host ÷ bare Deno (${bare.toFixed(0)} ms) ${(median(values) / bare).toFixed(2)}   (goal ≤ 1.15); CPU ÷ bare Deno's (${bareCpuMs.toFixed(1)} ms) ${(median(cpu[name]!) / bareCpuMs).toFixed(2)}`,
    )
  }
}

/** CPU time of a process since its start, over all threads, in milliseconds. */
function cpuMs(pid: number): number {
  let nanoseconds = 0
  for (const task of readdirSync(`/proc/${pid}/task`))
    nanoseconds += Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'latin1').split(' ')[0])
  return nanoseconds / 1e6
}
