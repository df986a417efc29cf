// Two processes of every app on one PostgreSQL and one storage, behind a balancer, with 50 persistent connections. It
// checks for errors, and for growth of memory, live heap and descriptors after the first third. Figures are medians of
// the samples of a twelfth of the time.
//
// `replicas.bench.ts [seconds, 150]`; DATABASE_URL names the server.
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestDatabase } from '@terrane/database/testing'
import { freePorts } from '@terrane/testing/ports'
import { makeKeys } from '../src/keys.ts'
import type { Settings } from '../src/settings.ts'
import { startStack, type Stack } from '../src/stack.ts'
import { openBalancer } from '../test/support/balancer.ts'
import { bucketCall, callsOf, send, type Call } from '../test/support/load.ts'

const SECONDS = Number(process.argv[2] ?? 150)
const CONNECTIONS = 50
const SAMPLE_MS = 5000
const GOAL_DRIFT = 0.05
const PAGE = 4096

if (!process.env['DATABASE_URL']) {
  console.log('SKIPPED: two of each app need a PostgreSQL at DATABASE_URL')
  process.exit()
}

await using db = await openTestDatabase()
const home = await mkdtemp(join(tmpdir(), 'terrane-replicas-'))
const keys = await makeKeys('local')
const stacks: Stack[] = []
try {
  for (let n = 0; n < 2; n++) stacks.push(await startStack(await settings(), keys))
  await measure()
} finally {
  for (const stack of stacks.toReversed()) await stack[Symbol.asyncDispose]()
  await rm(home, { recursive: true, force: true })
}

async function settings(): Promise<Settings> {
  const names = ['worker', 'origin', 'functions', 'router', 'console', 'database'] as const
  const free = await freePorts(names.length)
  const ports = Object.fromEntries(names.map((name, i) => [name, free[i]!])) as Settings['ports']
  return { home, projectRef: 'local', ports, databaseUrl: db.url, databaseSync: 'soon', logLevel: 'error' }
}

interface Held {
  /** Resident memory. */
  readonly bytes: number
  /** V8's heap and external memory, including garbage that is not collected yet. */
  readonly heap: number
  readonly descriptors: number
}

/** Current memory and descriptors of the apps' processes, by `app n`. */
async function held(): Promise<Map<string, Held>> {
  const found = new Map<string, Held>()
  const seen = new Map<string, number>()
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).toSorted((a, b) => Number(a) - Number(b))
  for (const pid of pids) {
    try {
      const parent = /\) \S (\d+)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8'))?.[1]
      const app = /apps\/(\w+)\/src\/main\.ts/.exec(await readFile(`/proc/${pid}/cmdline`, 'utf8'))?.[1]
      if (parent !== String(process.pid) || !app) continue
      const nth = (seen.get(app) ?? 0) + 1
      seen.set(app, nth)
      const pages = Number((await readFile(`/proc/${pid}/statm`, 'utf8')).split(' ')[1])
      const descriptors = (await readdir(`/proc/${pid}/fd`)).length
      const port = /(?:^|\0)PORT=(\d+)/.exec(await readFile(`/proc/${pid}/environ`, 'utf8'))![1]
      found.set(`${app} ${nth}`, { bytes: pages * PAGE, heap: await heapOf(Number(port)), descriptors })
    } catch {
      // The process has ended meanwhile.
    }
  }
  return found
}

/** Heap size in the metrics of an app. */
async function heapOf(port: number): Promise<number> {
  const headers = { authorization: `Bearer ${keys.metricsKey}` }
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`, { headers })).text()
  const metrics = ['nodejs_heap_size_used_bytes', 'nodejs_external_memory_bytes']
  return metrics.reduce((sum, name) => sum + Number(new RegExp(`^${name}(?:\\{.*?\\})? (\\S+)`, 'm').exec(text)![1]), 0)
}

async function measure(): Promise<void> {
  await using origin = await openBalancer()
  await using page = await openBalancer()
  for (const { originUrl, consoleUrl } of stacks) {
    origin.members.add(Number(new URL(originUrl).port))
    page.members.add(Number(new URL(consoleUrl).port))
  }
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const ask = (call: Call, n: number) => send(call, n, { agent, port: call.console ? page.port : origin.port })
  const made = await ask(bucketCall(keys), 0)
  if (made !== 200) throw new Error(`the bucket was answered with ${made}`)

  const mix = callsOf(keys)
  const counts = new Map<string, number>()
  const errors = new Map<string, number>()
  const end = performance.now() + SECONDS * 1000
  const samples: Awaited<ReturnType<typeof held>>[] = []
  const sampler = setInterval(() => void held().then((sample) => samples.push(sample)), SAMPLE_MS)
  const client = async (n: number) => {
    // The first call uploads the object that a later one downloads.
    await ask(mix[0]!, n)
    for (let i = n; performance.now() < end; i++) {
      const call = mix[i % mix.length]!
      const status = await ask(call, n)
      add(counts, call.name)
      if (status !== 200) add(errors, `${call.name} ${status}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => client(n)))
  clearInterval(sampler)
  agent.destroy()

  const total = [...counts.values()].reduce((sum, n) => sum + n, 0)
  const failed = [...errors.values()].reduce((sum, n) => sum + n, 0)
  console.log(
    `${total} requests in ${SECONDS} s over ${CONNECTIONS} connections, ${failed} errors; load ${loadavg()[0]!.toFixed(1)}`,
  )
  for (const [what, n] of errors) console.log(`  ${what}: ${n}`)
  const part = Math.max(1, Math.floor(samples.length / 12))
  const warmAt = Math.floor(samples.length / 3)
  const [warm, last] = [samples.slice(warmAt, warmAt + part), samples.slice(-part)]
  for (const app of samples[0]!.keys()) {
    const of = (some: typeof samples, what: keyof Held) => some.map((sample) => sample.get(app)?.[what] ?? NaN)
    const [then, now] = [median(of(warm, 'bytes')), median(of(last, 'bytes'))]
    // The minimum is just after a garbage collection, so it is the live heap.
    const floor = (from: number, to: number) => mib(Math.min(...of(samples.slice(from, to), 'heap')))
    console.log(
      `${app}: RSS ${mib(then)} → ${mib(now)} MiB (${((now / then - 1) * 100).toFixed(1)} %, goal below ${GOAL_DRIFT * 100}), ` +
        `most ${mib(Math.max(...of(samples, 'bytes')))}; least heap in the second third ${floor(warmAt, 2 * warmAt)}, ` +
        `in the last ${floor(2 * warmAt, samples.length)} MiB; ` +
        `descriptors ${median(of(warm, 'descriptors'))} → ${median(of(last, 'descriptors'))}`,
    )
    console.log(
      `  RSS in MiB: ${of(samples, 'bytes')
        .filter((_, i) => i % part === 0)
        .map(mib)
        .join(' ')}`,
    )
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!
}

function add(to: Map<string, number>, name: string): void {
  to.set(name, (to.get(name) ?? 0) + 1)
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
