import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { Agent } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { openTestDatabase, testLane } from '@terrane/database/testing'
import { freePorts } from '@terrane/testing/ports'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { App } from '../../src/apps.ts'
import { writeTown } from '../../src/demo/town.ts'
import { appsOf } from '../../src/environments.ts'
import { makeKeys, type Keys } from '../../src/keys.ts'
import { openBalancer, type Balancer } from '../support/balancer.ts'
import { bucketCall, callsOf, send, uploadInParts } from '../support/load.ts'

const NAMES = ['worker', 'functions', 'router', 'console', 'origin'] as const
type Name = (typeof NAMES)[number]
const REPLICAS = 2
const CLIENTS = 20
/** Time between leaving the balancer and SIGTERM; a short form of `preStop` in the manifests. */
const PRE_STOP_MS = 500
/** Longer than a busy machine delays requests of this test's clients. */
const TERRANE_SETTINGS = '{"everyApp":{"drainIdleMs":3000}}'

const opened = new AsyncDisposableStack()
const replicas = new Map<Name, { readonly port: number; app: App; start: () => Promise<App> }[]>()
const balancers = {} as Record<Name, Balancer>
const ended: string[] = []
let keys: Keys
beforeAll(async () => {
  const db = opened.use(await openTestDatabase())
  const home = await mkdtemp(join(tmpdir(), 'terrane-rolling-'))
  opened.defer(() => rm(home, { recursive: true, force: true }))
  keys = await makeKeys('local')
  for (const name of NAMES) balancers[name] = opened.use(await openBalancer())
  const behind = Object.fromEntries(NAMES.map((name) => [name, balancers[name].port])) as Record<Name, number>
  const dataRoots = join(home, 'data')
  await mkdir(dataRoots)
  const places = { town: await writeTown(dataRoots), dataRoots, databaseUrl: db.url }
  const settings = {
    home,
    projectRef: 'local',
    ports: { ...behind, database: 0 },
    databaseUrl: db.url,
    databaseSync: 'soon' as const,
    logLevel: 'error',
  }
  for (const [name, env] of appsOf(settings, keys, places)) {
    const copies = []
    for (const port of await freePorts(REPLICAS)) {
      const own = { ...env, PORT: String(port), TERRANE_SETTINGS, TERRANE_WORK_DIR: join(home, `work-${port}`) }
      const start = () => App.start(name, own, (message) => ended.push(message))
      const copy = { port, app: await start(), start }
      opened.defer(() => copy.app.stop())
      await untilReady(port)
      balancers[name].members.add(port)
      copies.push(copy)
    }
    replicas.set(name, copies)
  }
})
afterAll(() => opened.disposeAsync())

async function untilReady(port: number): Promise<void> {
  while ((await fetch(`http://127.0.0.1:${port}/health/ready`)).status !== 200) await sleep(100)
}

/** Clients with persistent connections that send requests until they are stopped. */
function startClients() {
  const agent = new Agent({ keepAlive: true, maxSockets: CLIENTS })
  const calls = callsOf(keys)
  const answers = new Map<string, number>()
  const until = { over: false }
  const client = async (n: number) => {
    for (let i = 0; !until.over; i++) {
      // The first call uploads the object that later ones download.
      const call = calls[i < calls.length ? i : (i + n) % calls.length]!
      const { port } = balancers[call.console ? 'console' : 'origin']
      const answer = `${call.name} ${await send(call, n, { agent, port })}`
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  const uploader = async () => {
    for (let i = 0; !until.over; i++) {
      const answer = `parts ${await uploadInParts(keys, `parts-${i}`, balancers.origin.port).catch((error: Error) => String(error.cause))}`
      answers.set(answer, (answers.get(answer) ?? 0) + 1)
    }
  }
  const running = Promise.all([uploader(), ...Array.from({ length: CLIENTS }, (_, n) => client(n))])
  return {
    answers,
    stop: async () => {
      until.over = true
      await running
      agent.destroy()
    },
  }
}

test(`every app is restarted under load, one of ${REPLICAS} after the other, and no request fails (${testLane()})`, async ({
  annotate,
}) => {
  const agent = new Agent()
  expect(await send(bucketCall(keys), 0, { agent, port: balancers.origin.port })).toBe(200)
  const clients = startClients()
  const codes: (number | null)[] = []
  for (const name of NAMES) {
    const { members } = balancers[name]
    for (const copy of replicas.get(name)!) {
      members.delete(copy.port)
      await sleep(PRE_STOP_MS)
      await copy.app.stop()
      codes.push(copy.app.exitCode)
      copy.app = await copy.start()
      await untilReady(copy.port)
      members.add(copy.port)
    }
  }
  await clients.stop()
  expect(ended).toEqual([])
  expect(codes).toEqual(codes.map(() => 0))
  const wrong = [...clients.answers].filter(([answer]) => !answer.endsWith(' 200'))
  expect(wrong).toEqual([])
  expect(clients.answers.size).toBe(callsOf(keys).length + 1)
  const total = [...clients.answers.values()].reduce((sum, n) => sum + n, 0)
  const uploads = clients.answers.get('parts 200')
  await annotate(
    `${total} requests, ${uploads} of them uploads in parts, over ${CLIENTS} connections, ${codes.length} restarts`,
  )
})
