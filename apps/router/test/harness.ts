import { randomUUID } from 'node:crypto'
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { hashKey } from '@terrane/auth'
import { writePbf, type OsmElement } from '@terrane/osm'
import type { Network, ProblemBody, RouteResponse } from '@terrane/routing'
import { createLogger } from '@terrane/service'
import { onTestFinished, vi } from 'vitest'
import { buildApp, ROUTING_BASE } from '../src/app.ts'
import { readConfig } from '../src/config.ts'
import { openDeps, type Deps } from '../src/deps.ts'
import type { BuildGraph } from '../src/graph/build.ts'
import { buildGraphFile } from '../src/graph/build-graph-file.ts'
import { configuredKeeper } from '../src/graph/configured-keeper.ts'
import type { Outcome } from '../src/graph/keeper.ts'

// A graph is built by a process of its own, which takes its time where others work too.
vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 })

export const KEY = 'the-services-key-of-the-tests'

/** Columns of crossings of a town from west to east. Towns that share columns share their crossings. */
export interface TownPlan {
  readonly name: string
  readonly columns: readonly [first: number, last: number]
}

const ROWS = 9

/** Where the streets of a column and a row cross. */
function crossing(column: number, row: number): { lat: number; lon: number } {
  return { lat: 48 + row * 0.002, lon: 11 + column * 0.003 }
}

/** Writes a town of crossing streets as an extract: `{name} Street {row}` from west to east, `{name} Avenue {column}`. */
export async function writeTown(path: string, { name, columns: [first, last] }: TownPlan): Promise<void> {
  const idOf = (column: number, row: number) => 1 + column * ROWS + row
  const columns = Array.from({ length: last - first + 1 }, (_, i) => first + i)
  const rows = Array.from({ length: ROWS }, (_, i) => i)
  const way = (id: number, refs: number[], street: string): OsmElement => {
    return { type: 'way', id, refs, tags: { highway: 'residential', name: `${name} ${street}` } }
  }
  const elements: OsmElement[] = [
    ...columns.flatMap((column) =>
      rows.map((row) => ({ type: 'node' as const, id: idOf(column, row), ...crossing(column, row) })),
    ),
    ...rows.map((row) =>
      way(
        1000 + first * ROWS + row,
        columns.map((column) => idOf(column, row)),
        `Street ${row}`,
      ),
    ),
    ...columns.map((column) =>
      way(
        9000 + column,
        rows.map((row) => idOf(column, row)),
        `Avenue ${column}`,
      ),
    ),
  ]
  await writeFile(`${path}.draft`, writePbf(elements))
  await rename(`${path}.draft`, path)
}

/** The operator's. */
const METRICS_KEY = 'the-key-of-the-operator'

/** The settings file of a router with these members. */
export function settingsOf(router: object): { TERRANE_SETTINGS: string } {
  return { TERRANE_SETTINGS: JSON.stringify({ router }) }
}

const SETTINGS = {
  LOG_LEVEL: 'silent',
  TERRANE_ACCEPTED_KEYS: hashKey(KEY),
  TERRANE_METRICS_KEY: METRICS_KEY,
  TERRANE_ROUTING_THREADS: '1',
}

/** A router that listens on loopback. */
export interface TestRouter extends AsyncDisposable {
  readonly url: string
  readonly deps: Deps
  compileSchemas(): void
  /** Posts to the endpoint with the key of the tests. */
  route(body: unknown): Promise<Answer>
  /** The same without a connection, which takes more time than most routes. */
  inject(body: string): Promise<Omit<Answer, 'headers'>>
  /** Waits until a graph is served whose answers pass. */
  until(passes: (answer: Answer) => boolean, body: unknown): Promise<Answer>
  /** The value of a metric. @param name with the labels that identify it */
  metric(name: string): Promise<number>
  /** Waits until a metric is no longer zero. */
  untilMetric(name: string): Promise<void>
}

export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly body: RouteResponse & ProblemBody
}

/** A folder of the test's own. */
export async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
  onTestFinished(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** Builds a graph in this process, in a tenth of the time that a process of its own takes. */
export const buildHere: BuildGraph = async (task, onProgress, signal) => {
  await buildGraphFile(task, onProgress)
  signal.throwIfAborted()
}

/** The first graph that a router of these settings serves, and where it is from, without threads that answer with it. */
export async function firstGraph(
  env: Readonly<Record<string, string>>,
): Promise<{ readonly network: Network; readonly outcome: Outcome }> {
  const served = Promise.withResolvers<Network>()
  const outcome = Promise.withResolvers<Outcome>()
  await using keeper = configuredKeeper(readConfig({ ...SETTINGS, ...env }), {
    build: buildHere,
    watchMs: 0,
    logger: createLogger({ name: 'test', level: 'silent' }),
    serve: async (network) => served.resolve(network),
    onOutcome: outcome.resolve,
  })
  await keeper.start()
  if ((await outcome.promise) === 'failed') throw keeper.failure ?? new Error('there is no graph')
  return { network: await served.promise, outcome: await outcome.promise }
}

/** Makes the graph file that a router of these settings leaves. */
export async function prepareGraph(env: Readonly<Record<string, string>>): Promise<void> {
  if ((await firstGraph(env)).outcome !== 'built') throw new Error('the graph was there already')
}

/** Starts a router on extracts; does not wait for its graph. */
export async function startRouter(env: Readonly<Record<string, string>>, build = buildHere): Promise<TestRouter> {
  const config = readConfig({ ...SETTINGS, ...env })
  const deps = await openDeps(config, build)
  const app = await buildApp(deps)
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const route = async (body: unknown): Promise<Answer> => {
    const response = await fetch(`${url}${ROUTING_BASE}/route`, {
      method: 'POST',
      headers: { apikey: KEY },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    return { status: response.status, headers: response.headers, body: (await response.json()) as Answer['body'] }
  }
  const metric = async (name: string) => {
    const text = await (await fetch(`${url}/metrics`, { headers: { authorization: `Bearer ${METRICS_KEY}` } })).text()
    const line = text.split('\n').find((each) => each.startsWith(name))
    return line === undefined ? 0 : Number(line.split(' ').at(-1))
  }
  return {
    url,
    deps,
    compileSchemas: () => app.compileSchemas(),
    route,
    inject: async (payload) => {
      const headers = { apikey: KEY }
      const answer = await app.inject({ method: 'POST', url: `${ROUTING_BASE}/route`, headers, payload })
      return { status: answer.statusCode, body: answer.json() }
    },
    until: async (passes, body) => {
      for (;;) {
        const answer = await route(body)
        if (passes(answer)) return answer
        await sleep(50)
      }
    },
    metric,
    untilMetric: async (name) => {
      while ((await metric(name)) === 0) await sleep(50)
    },
    [Symbol.asyncDispose]: async () => {
      const closed = app.close()
      // A client may hold a connection that it has not used yet, which counts as busy for a minute.
      app.server.closeAllConnections()
      await closed
      await deps[Symbol.asyncDispose]()
    },
  }
}

/** A request along a street of a town: from its column to another one in a row. */
export function alongStreet(from: number, to: number, row = 4): Record<string, unknown> {
  return { id: randomUUID(), locations: [crossing(from, row), crossing(to, row)], costing: 'auto' }
}

/** Names of the streets that a route uses. */
export function streetsOf({ body }: Answer): string[] {
  return body.trip.legs.flatMap((leg) => (leg.maneuvers ?? []).flatMap((maneuver) => maneuver.street_names ?? []))
}

export function isRoute(answer: Answer): boolean {
  return answer.status === 200
}
