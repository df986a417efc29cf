// Two of every app on one PostgreSQL and one storage, behind a balancer, asked by 50 connections that stay open: are there errors,
// does memory grow after the first third, do descriptors?
//   replicas.bench.ts [seconds, 150]; DATABASE_URL names the server
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { createServer, connect, type AddressInfo } from 'node:net'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { openTestDatabase } from '@terrane/database/testing'
import { freePorts } from '@terrane/testing/ports'
import { makeKeys } from '../src/keys.ts'
import type { Settings } from '../src/settings.ts'
import { startStack, type Stack } from '../src/stack.ts'

const SECONDS = Number(process.argv[2] ?? 150)
const CONNECTIONS = 50
const SAMPLE_MS = 5000
const GOAL_DRIFT = 0.05
const PAGE = 4096
const OBJECT = Buffer.alloc(64 << 10, 'x')

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
  return { home, projectRef: 'local', ports, databaseUrl: db.url, logLevel: 'error' }
}

/** Hands each connection to the next of the addresses. */
async function balance(urls: readonly string[]) {
  let next = 0
  const server = createServer((client) => {
    const { hostname, port } = new URL(urls[next++ % urls.length]!)
    const upstream = connect(Number(port), hostname)
    client.on('error', () => upstream.destroy()).on('close', () => upstream.destroy())
    upstream.on('error', () => client.destroy()).on('close', () => client.destroy())
    client.pipe(upstream).pipe(client)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { port: (server.address() as AddressInfo).port, close: () => server.close() }
}

interface Call {
  readonly name: string
  readonly console?: boolean
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

function calls(): Call[] {
  const anon = { apikey: keys.anonKey, authorization: `Bearer ${keys.anonKey}` }
  const service = { apikey: keys.serviceRoleKey, authorization: `Bearer ${keys.serviceRoleKey}` }
  const json = { 'content-type': 'application/json' }
  const place = { lat: 48.1, lon: 11.6 }
  const route = JSON.stringify({ locations: [place, { lat: 48.095, lon: 11.59 }], costing: 'auto' })
  const object = '/storage/v1/object/load'
  return [
    {
      name: 'rows',
      method: 'GET',
      path: '/rest/v1/embeddings_catalogue?select=table_name',
      headers: { ...anon, 'accept-profile': 'geoembeddings' },
    },
    {
      name: 'route',
      method: 'POST',
      path: '/routing-engine/v1/route',
      headers: { apikey: keys.servicesKey, ...json },
      body: route,
    },
    {
      name: 'function',
      method: 'POST',
      path: '/functions/v1/hello',
      headers: { ...anon, ...json },
      body: '{"name":"x"}',
    },
    {
      name: 'upload',
      method: 'POST',
      path: `${object}/{n}`,
      headers: { ...service, 'x-upsert': 'true', 'content-type': 'text/plain' },
      body: OBJECT,
    },
    { name: 'download', method: 'GET', path: `${object}/{n}`, headers: service },
    { name: 'jobs', method: 'GET', path: '/worker/jobs/exportTable', headers: service },
    { name: 'console', console: true, method: 'GET', path: '/', headers: {} },
  ]
}

/** What the processes of the apps hold now, by `app n`. */
async function held(): Promise<Map<string, { bytes: number; descriptors: number }>> {
  const found = new Map<string, { bytes: number; descriptors: number }>()
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
      found.set(`${app} ${nth}`, { bytes: pages * PAGE, descriptors })
    } catch {
      // A process that ended meanwhile.
    }
  }
  return found
}

async function measure(): Promise<void> {
  const origin = await balance(stacks.map(({ originUrl }) => originUrl))
  const page = await balance(stacks.map(({ consoleUrl }) => consoleUrl))
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const send = ({ method, path, headers, body, console: toConsole = false }: Call, n: number) =>
    new Promise<number>((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = {
        host: '127.0.0.1',
        port: toConsole ? page.port : origin.port,
        method,
        path: path.replace('{n}', String(n)),
        agent,
        headers: { ...headers, ...length },
      }
      const sent = request(options, (response) => {
        response
          .on('error', reject)
          .on('end', () => resolve(response.statusCode ?? 0))
          .resume()
      })
      sent.on('error', reject)
      sent.end(body)
    })

  const bucket = JSON.stringify({ id: 'load', name: 'load', public: false })
  const headers = {
    apikey: keys.serviceRoleKey,
    authorization: `Bearer ${keys.serviceRoleKey}`,
    'content-type': 'application/json',
  }
  const made = await send({ name: 'bucket', method: 'POST', path: '/storage/v1/bucket', headers, body: bucket }, 0)
  if (made !== 200) throw new Error(`the bucket was answered with ${made}`)

  const mix = calls()
  const counts = new Map<string, number>()
  const errors = new Map<string, number>()
  const end = performance.now() + SECONDS * 1000
  const samples: Awaited<ReturnType<typeof held>>[] = []
  const sampler = setInterval(() => void held().then((sample) => samples.push(sample)), SAMPLE_MS)
  const client = async (n: number) => {
    // What is downloaded must be there.
    await send(
      mix.find(({ name }) => name === 'upload')!,
      n,
    )
    for (let i = n; performance.now() < end; i++) {
      const call = mix[i % mix.length]!
      const status = await send(call, n).catch((error: Error & { code?: string }) => error.code ?? error.message)
      add(counts, call.name)
      if (status !== 200) add(errors, `${call.name} ${status}`)
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, (_, n) => client(n)))
  clearInterval(sampler)
  agent.destroy()
  origin.close()
  page.close()

  const total = [...counts.values()].reduce((sum, n) => sum + n, 0)
  const failed = [...errors.values()].reduce((sum, n) => sum + n, 0)
  console.log(
    `${total} requests in ${SECONDS} s over ${CONNECTIONS} connections, ${failed} errors; load ${loadavg()[0]!.toFixed(1)}`,
  )
  for (const [what, n] of errors) console.log(`  ${what}: ${n}`)
  const [warm, last] = [samples[Math.floor(samples.length / 3)]!, samples.at(-1)!]
  for (const [app, { bytes, descriptors }] of last) {
    const then = warm.get(app)!
    const drift = bytes / then.bytes - 1
    console.log(
      `${app}: RSS ${mib(then.bytes)} → ${mib(bytes)} MiB (${(drift * 100).toFixed(1)} %, goal below ${GOAL_DRIFT * 100}), ` +
        `most ${mib(Math.max(...samples.map((sample) => sample.get(app)?.bytes ?? 0)))}; descriptors ${then.descriptors} → ${descriptors}`,
    )
  }
}

function add(to: Map<string, number>, name: string): void {
  to.set(name, (to.get(name) ?? 0) + 1)
}

function mib(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(0)
}
