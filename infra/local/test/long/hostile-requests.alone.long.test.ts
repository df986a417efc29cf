import { Agent } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { testLane } from '@terrane/database/testing'
import { isWholeRun } from '@terrane/testing/property'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fire, type Outcome } from '../support/fire.ts'
import { attacksOn, type Attack } from '../support/hostile-requests.ts'
import { openHouse, type House } from '../support/house.ts'
import type { Probe } from '../support/prober.worker.ts'

/** Total number of attacks, spread over all routes, apps and callers. */
const ATTACKS = isWholeRun() ? 10_000 : 3000
const SEED = 20_261_122
/** Concurrent requests to one app. */
const AT_ONCE = 4
/** Allowed extra delay of an app's liveness answer under attack. */
const LATER_MS = 200
/** Repetitions of an attack that seems to block an app; a real blockage occurs each time. */
const ROUNDS = 5
const GROWTH_BYTES = 200 * 1024 * 1024

/** Error codes with a 5xx status that are intended. */
const MEANT = new Set(['TASK_NOT_BUILT', 'FUNCTION_BUSY', 'SERVICE_OFF', 'auth_not_offered'])
/** Routes that answer anyone. A new route of this kind must be added here. */
const OPEN: ReadonlySet<string> = new Set([
  'console GET /',
  'console GET /api/session',
  'console GET /assets/*',
  'console GET /m/:ref/:id',
  'console GET /p/*',
  'functions GET /doc',
  'functions POST /functions/v1/*',
  'origin POST /functions/v1/*',
  // Lists that are equal for all projects.
  'origin GET /raster/v1/algorithms',
  'origin GET /raster/v1/algorithms/:name',
  'origin GET /raster/v1/colorMaps',
  'origin GET /raster/v1/colorMaps/:name',
  'origin GET /raster/v1/tileMatrixSets',
  'origin GET /raster/v1/tileMatrixSets/:tms',
  'worker GET /doc',
  'worker GET /ui',
  ...['console', 'functions', 'origin', 'router', 'worker'].flatMap((app) => [
    `${app} GET /health/live`,
    `${app} GET /health/ready`,
  ]),
])

describe(`${ATTACKS} hostile requests of seed ${SEED} (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  const probes: Probe[] = []
  const outcomes: Outcome[] = []
  const agents = new Map<string, Agent>()
  const baseline = new Map<string, number>()
  const memory = new Map<string, { before: number; after: number }>()
  let house: House
  let prober: Worker

  beforeAll(async () => {
    house = await openHouse(opened)
    await house.signIn()
    for (const { name } of house.apps) agents.set(name, new Agent({ keepAlive: true, maxSockets: AT_ONCE }))
    prober = new Worker(new URL('../support/prober.worker.ts', import.meta.url), {
      workerData: house.apps.map(({ name, url }) => ({ name, url })),
    })
    prober.on('message', (probe: Probe) => probes.push(probe))
    opened.defer(async () => void (await prober.terminate()))
    // Each app handles every route once before the measurement.
    await attack((name) => attacksOn(house.app(name).routes, 1, SEED + 1))
    outcomes.length = 0
    await settle('before')
    probes.length = 0
    await sleep(8000)
    for (const { name } of house.apps) baseline.set(name, worst(name, 0, Infinity))
    probes.length = 0
    const pairs = house.apps.flatMap(({ name }) => attacksOn(house.app(name).routes, 1, SEED)).length
    const perPair = Math.ceil(ATTACKS / pairs)
    await attack((name) => attacksOn(house.app(name).routes, perPair, SEED))
    await settle('after')
    report()
  }, 900_000)
  afterAll(() => opened.disposeAsync())

  /** Attacks all apps at the same time, each in an order that mixes its routes. */
  async function attack(attacksOf: (app: string) => readonly Attack[]): Promise<void> {
    const dripping: Promise<unknown>[] = []
    await Promise.all(
      house.apps.map(async (app) => {
        const attacks = attacksOf(app.name)
        const step = coprime(attacks.length)
        let next = 0
        const one = async () => {
          for (let n = next++; n < attacks.length; n = next++) {
            const chosen = attacks[(n * step) % attacks.length]!
            const credentials = house.credentials(app.name, chosen.caller)
            if (chosen.drips) {
              dripping.push(fire(app, chosen, credentials, new Agent()).then((outcome) => outcomes.push(outcome)))
              continue
            }
            const outcome = await fire(app, chosen, credentials, agents.get(app.name)!)
            outcomes.push(outcome)
            if (outcome.code === 'NOT_SIGNED_IN' && chosen.caller === 'owner') await house.signIn()
          }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, one))
      }),
    )
    await Promise.all(dripping)
  }

  async function settle(when: 'before' | 'after'): Promise<void> {
    for (const app of house.apps) {
      await app.collect()
      await sleep(500)
      await app.collect()
      const bytes = await house.metric(app.name, 'process_resident_memory_bytes')
      memory.set(app.name, { before: bytes, after: bytes, ...memory.get(app.name), [when]: bytes })
    }
  }

  function worst(app: string, from: number, to: number): number {
    const within = probes.filter((probe) => probe.app === app && probe.at + probe.ms >= from && probe.at <= to)
    return Math.max(0, ...within.map(({ ms }) => ms))
  }

  function report(): void {
    for (const { name } of house.apps) {
      const own = outcomes.filter(({ app }) => app === name)
      const { before, after } = memory.get(name)!
      const statuses = Object.entries(Object.groupBy(own, ({ status }) => String(status)))
      const mib = (bytes: number) => (bytes / 1024 / 1024).toFixed(0)
      process.stdout.write(
        `${name}: ${own.length} attacks, /health/live at most ${worst(name, 0, Infinity).toFixed(0)} ms (without them ` +
          `${baseline.get(name)!.toFixed(0)} ms), memory ${mib(before)} → ${mib(after)} MiB, ` +
          `${statuses.map(([status, all]) => `${status}×${all!.length}`).join(' ')}\n`,
      )
    }
    for (const line of count(failures().map(told)).slice(0, 60)) process.stdout.write(`failed: ${line}\n`)
  }

  const failures = () => outcomes.filter(({ status, code }) => status === null || (status >= 500 && !MEANT.has(code)))

  const told = ({ app, attack: { kind, caller, method, route }, status, code, began, ended }: Outcome) =>
    `${app} ${method} ${route.url} (${route.method}) ${kind} by ${caller}: ${status} ${code} ${Math.round(ended - began)} ms`

  test('every attack is answered, and none of them by a failure of the server', () => {
    expect(outcomes.length).toBeGreaterThanOrEqual(ATTACKS)
    expect(count(failures().map(told))).toEqual([])
  })

  test('only routes that are open on purpose do anything for nobody or for a stranger', () => {
    const served = outcomes.filter(({ app, status, attack: { caller, method } }) => {
      // At the console, a stranger is a user with projects of their own.
      const isStranger = caller === 'nobody' || (caller === 'foreign' && app !== 'console')
      return isStranger && status !== null && status < 400 && method !== 'OPTIONS'
    })
    const routes = new Set(served.map(({ app, attack: { method, route } }) => `${app} ${method} ${route.url}`))
    expect([...routes].filter((route) => !OPEN.has(route)).toSorted()).toEqual([])
  })

  test('no app takes over 200 ms longer to say that it lives', async () => {
    const late: string[] = []
    for (const app of house.apps) {
      const limit = baseline.get(app.name)! + LATER_MS
      const slow = probes.filter((probe) => probe.app === app.name && probe.ms > limit)
      process.stdout.write(`${app.name}: ${slow.length} answers came late; what was under way then is tried again\n`)
      for (const { at, ms } of slow.toSorted((a, b) => b.ms - a.ms).slice(0, 8)) {
        const window = suspects(app.name, at, at + ms)
        // A busy machine sometimes delays an app, but an attack that blocks an app does so each time.
        const again: number[] = []
        while (again.length < ROUNDS) {
          // Measures the machine without an attack, to distinguish its own pauses.
          const quiet = performance.timeOrigin + performance.now()
          await sleep(1000)
          const from = performance.timeOrigin + performance.now()
          const control = Math.max(limit, worst(app.name, quiet, from) + LATER_MS)
          await Promise.all(
            window.map(({ attack: one }) =>
              fire(app, one, house.credentials(app.name, one.caller), agents.get(app.name)!),
            ),
          )
          await sleep(100)
          again.push(worst(app.name, from, Infinity) - control)
          if (again.at(-1)! <= 0) break
        }
        if (Math.min(...again) > 0)
          late.push(`${again.map(Math.round).join(', ')} ms over: ${window.map(told).join(' + ')}`)
      }
    }
    expect(late).toEqual([])
  })

  test('no app grows by 200 MB', () => {
    for (const [app, { before, after }] of memory) expect(after - before, app).toBeLessThan(GROWTH_BYTES)
  })

  function suspects(app: string, from: number, to: number): Outcome[] {
    return outcomes.filter((one) => one.app === app && !one.attack.drips && one.began <= to && one.ended >= from)
  }
})

/** A step size that visits every index of a list of this length once. */
function coprime(length: number): number {
  const divisor = (a: number, b: number): number => (b === 0 ? a : divisor(b, a % b))
  let step = Math.max(1, Math.floor(length * 0.618))
  while (divisor(length, step) !== 1) step++
  return step
}

/** Counts equal lines. */
function count(lines: readonly string[]): string[] {
  return Object.entries(Object.groupBy(lines, (line) => line.replace(/ \d+ ms$/, ''))).map(
    ([line, all]) => `${all!.length} × ${line}`,
  )
}
