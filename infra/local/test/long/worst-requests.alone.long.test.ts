// Slow: waits for the memory of each app to settle between requests.
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { testLane } from '@terrane/database/testing'
import { shareOfRun } from '@terrane/testing/property'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openHouse, settingsOf, type House } from '../support/house.ts'
import type { Probe } from '../support/prober.worker.ts'
import { DOORS_SETUP, ofDoors, prepareDoors } from '../support/worst-doors.ts'
import { SETUP, openEndlessFiles, townImport, worstRequests, type WorstRequest } from '../support/worst-requests.ts'

const MIB = 1024 * 1024
/** Maximum memory of one request above the idle memory of its app. */
const MOST_BYTES = 300 * MIB
/**
 * Maximum delay of a liveness answer compared with the other apps, in milliseconds, and repetitions of a request that
 * seems to block its app.
 */
const MOST_LATER_MS = 500
const ROUNDS = 4
/** Milliseconds until a cancelled job has ended: the contract says two seconds, a busy machine takes longer. */
const STOP_MS = 20_000
const JSON_TYPE = { 'content-type': 'application/json' }

const endless = await openEndlessFiles()
/** On a calm machine a request that may succeed must: limits of time that a busy machine reaches are no excuse. */
// oxlint-disable-next-line node/no-process-env -- Set for a run on a calm machine.
const isCalm = process.env['TERRANE_TEST_CALM'] === '1'
/** A third of the requests, chosen by the seed, or all. */
const all = Object.entries({ ...worstRequests(endless.url), ...ofDoors })
const REQUESTS = shareOfRun('worst requests', all, Math.ceil(all.length / 3), ([name]) => name)
afterAll(() => endless[Symbol.asyncDispose]())

describe(`the worst requests (${testLane()})`, () => {
  const opened = new AsyncDisposableStack()
  const probes: Probe[] = []
  let house: House
  beforeAll(async () => {
    const env = { ...settingsOf(100_000), TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1' }
    house = await openHouse(opened, env)
    await house.signIn()
    await house.db.database.query(SETUP + DOORS_SETUP)
    await importTown()
    await prepareDoors(house, endless.url)
    const prober = new Worker(new URL('../support/prober.worker.ts', import.meta.url), {
      workerData: house.apps.map(({ name, url }) => ({ name, url })),
    })
    prober.on('message', (probe: Probe) => probes.push(probe))
    opened.defer(async () => void (await prober.terminate()))
    const headers = { ...house.credentials('origin', 'owner'), ...JSON_TYPE }
    const init = { method: 'POST', headers, body: JSON.stringify({ id: 'out', name: 'out' }) }
    await fetch(`${house.app('origin').url}/storage/v1/bucket`, init)
  }, 300_000)
  afterAll(() => opened.disposeAsync())

  /** Imports an area that can be updated. */
  async function importTown(): Promise<void> {
    const headers = { ...house.credentials('worker', 'owner'), ...JSON_TYPE }
    const { url } = house.app('worker')
    const init = { method: 'POST', headers, body: JSON.stringify(townImport(endless)) }
    const response = await fetch(`${url}/jobs/osmImportArea`, init)
    const { links, ...said } = (await response.json()) as { links?: { self: string } }
    if (!links) throw new Error(JSON.stringify(said))
    const untilDone = async () => {
      const { status } = (await (await fetch(`${url}${links.self}`, { headers })).json()) as { status: string }
      if (status !== 'success') throw new Error(`the import is ${status}`)
    }
    await vi.waitFor(untilDone, { timeout: 200_000, interval: 500 })
  }

  const memory = (app: string) => house.metric(app, 'process_resident_memory_bytes')

  /** Memory of an app after a garbage collection. */
  async function idle(app: string): Promise<number> {
    await house.app(app).collect()
    await sleep(500)
    await house.app(app).collect()
    return memory(app)
  }

  /** Cancels a job and waits for its end, so that it does not disturb the next measurement. */
  async function stop(app: string, job: string): Promise<void> {
    const headers = house.credentials(app, 'owner')
    const { status } = await fetch(`${house.app(app).url}${job}`, { method: 'DELETE', headers })
    expect([200, 202]).toContain(status)
    const untilEnded = async () => {
      const { terminal } = (await (await fetch(`${house.app(app).url}${job}`, { headers })).json()) as {
        terminal: boolean
      }
      if (!terminal) throw new Error(`${job} runs on`)
    }
    await vi.waitFor(untilEnded, { timeout: STOP_MS, interval: 250 })
  }

  interface Asked {
    readonly answers: readonly {
      readonly status: number
      readonly bytes: number
      readonly begin: string
      /** Path of a job that was started. */
      readonly job: string | null
    }[]
    /** Additional memory compared with the idle app. */
    readonly grown: number
    /**
     * Maximum delay of the app's liveness answer, and of another app's at the same time, which only the machine delays.
     */
    readonly late: number
    readonly control: number
  }

  /** Sends the request twice concurrently, and measures the app. */
  async function ask([app, path, init, , watched = app]: WorstRequest): Promise<Asked> {
    const before = await idle(watched)
    probes.length = 0
    let peak = before
    const answered = new AbortController()
    const watching = (async () => {
      while (!answered.signal.aborted) {
        peak = Math.max(peak, await memory(watched))
        await sleep(50)
      }
    })()
    const headers = { ...house.credentials(app, 'owner'), ...JSON_TYPE, ...init.headers }
    const url = `${house.app(app).url}${path}`
    const worst = (isIts: boolean) =>
      Math.max(0, ...probes.filter((probe) => (probe.app === watched) === isIts).map(({ ms }) => ms))
    try {
      const answers = await Promise.all([1, 2].map(() => answerTo(url, { ...init, headers })))
      // A job continues after its answer, and so does the work of another app for it.
      const jobs = answers.flatMap(({ job }) => (job === null ? [] : [job]))
      if (watched !== app || jobs.length > 0) await sleep(10_000)
      await Promise.all(jobs.map((job) => stop(app, job)))
      return { answers, grown: peak - before, late: worst(true), control: worst(false) }
    } finally {
      answered.abort()
      await watching
    }
  }

  test.each(REQUESTS)('%s', { timeout: 600_000 }, async (name, request) => {
    const { answers, grown, late, control } = await ask(request)
    process.stdout.write(
      `${name}: ${answers.map(({ status, bytes }) => `${status} ${Math.round(bytes / MIB)} MiB`).join(', ')}; memory + ` +
        `${Math.round(grown / MIB)} MiB, live at most ${Math.round(late)} ms late, others ${Math.round(control)} ms; ` +
        `${answers[0]!.begin.slice(0, 100)}\n`,
    )
    expect(house.apps.filter(({ isAlive }) => !isAlive).map((one) => one.name)).toEqual([])
    const [, , , known] = request
    const successes = known.filter((one) => one.status === 200)
    const right = isCalm && successes.length > 0 ? successes : known
    for (const answer of answers)
      expect(
        right.map((one) => one.status),
        answer.begin,
      ).toContain(answer.status)
    for (const { status, begin } of answers)
      expect(begin).toContain(right.find((one) => one.status === status)!.holds ?? '')
    expect(grown).toBeLessThan(MOST_BYTES)
    // A busy machine sometimes delays an app, but a request that blocks it does so each time.
    const over = [late - control]
    while (over.at(-1)! > MOST_LATER_MS && over.length < ROUNDS) {
      const again = await ask(request)
      over.push(again.late - again.control)
    }
    expect(Math.min(...over), `later than other apps by ${over.map(Math.round).join(', ')} ms`).toBeLessThan(
      MOST_LATER_MS,
    )
  })
})

async function answerTo(url: string, init: RequestInit) {
  const response = await fetch(url, init).catch(() => null)
  let bytes = 0
  let begin = ''
  try {
    for await (const chunk of response?.body ?? []) {
      bytes += (chunk as Uint8Array).length
      begin ||= Buffer.from(chunk as Uint8Array).toString('latin1', 0, 300)
    }
  } catch {
    // An answer that exceeds its limit is cut off.
  }
  const location = response?.status === 202 ? response.headers.get('location') : null
  return {
    status: response?.status ?? 0,
    bytes,
    begin,
    job: location === null ? null : new URL(location, url).pathname,
  }
}
