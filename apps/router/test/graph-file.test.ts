// Slow: graphs are built in processes, which take turns at a file.
import { mkdtemp, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { factsOf } from '@terrane/routing'
import type { Logger } from '@terrane/service'
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { Engine } from '../src/engine/engine.ts'
import { buildInProcess } from '../src/graph/build.ts'
import { isOnLocalDisk } from '../src/graph/local-disk.ts'
import {
  alongStreet,
  firstGraph,
  isRoute,
  makeFolder,
  prepareGraph,
  startRouter,
  streetsOf,
  writeTown,
  type Answer,
  type TestRouter,
  settingsOf,
} from './harness.ts'

const LOADED = 'routing_graphs_total{outcome="loaded"'
const BUILT = 'routing_graphs_total{outcome="built"'
const FAILED = 'routing_graphs_total{outcome="failed"'

const isNew = (answer: Answer) => isRoute(answer) && streetsOf(answer)[0] === 'New Street 4'

/** A graph is counted a moment after it answers. */
async function expectOutcomes(router: TestRouter, outcomes: { loaded: number; built: number }): Promise<void> {
  const counted = async () => ({ loaded: await router.metric(LOADED), built: await router.metric(BUILT) })
  await expect.poll(counted).toEqual(outcomes)
}

/** A folder with an extract and the environment of a router on it. */
async function makeTown(name = 'Old', given?: string) {
  const folder = given ?? (await makeFolder())
  const extract = join(folder, 'town.osm.pbf')
  const graph = join(folder, 'graphs', 'graph.bin')
  await writeTown(extract, { name, columns: [0, 8] })
  const env = { TERRANE_ROUTING_OSM: extract, TERRANE_ROUTING_GRAPH: graph, ...settingsOf({ watchMs: 50 }) }
  return { folder, extract, graph, env }
}

test('while there is no graph yet, routes are refused and readiness says starting', async () => {
  const { folder, extract } = await makeTown()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const host = await serveFiles((_, response) => void released.then(async () => response.end(await readFile(extract))))
  const env = {
    TERRANE_ROUTING_OSM: `http://${host}/town.osm.pbf`,
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
    TERRANE_FETCH_ALLOW_HOSTS: host,
  }
  await using router = await startRouter(env)
  const early = await router.route(alongStreet(0, 8))
  expect(early).toMatchObject({ status: 503, body: { error_code: 503_001, status: 'Service Unavailable' } })
  expect(early.headers.get('retry-after')).toBe('5')
  const ready = await fetch(`${router.url}/health/ready`)
  expect(ready.status).toBe(503)
  expect(await ready.json()).toEqual({ status: 'starting', checks: { graph: 'starting' } })
  expect((await fetch(`${router.url}/health/live`)).status).toBe(200)
  release()
  await router.until(isRoute, alongStreet(0, 8))
  expect((await fetch(`${router.url}/health/ready`)).status).toBe(200)
})

/** An HTTP server of the test's own; returns its host and port. */
async function serveFiles(handler: RequestListener): Promise<string> {
  const server = createServer(handler).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

test('several extracts are one graph: a route crosses from one to the other', async () => {
  const folder = await makeFolder()
  const [west, east] = [join(folder, 'west.osm.pbf'), join(folder, 'east.osm.pbf')]
  await writeTown(west, { name: 'Alder', columns: [0, 5] })
  await writeTown(east, { name: 'Birch', columns: [5, 10] })
  const TERRANE_ROUTING_GRAPH = join(folder, 'graph.bin')
  await using router = await startRouter({ TERRANE_ROUTING_OSM: ` ${west} , ${east} `, TERRANE_ROUTING_GRAPH })
  const answer = await router.until(isRoute, alongStreet(1, 9))
  expect(answer.body.trip.summary.length).toBeCloseTo(1.784, 2)
  // The crossings of the column that both extracts contain exist once.
  expect(await router.metric('routing_graph_nodes')).toBe(11 * 9)
})

test('a second start loads the graph file of the first one', async () => {
  const { env, graph } = await makeTown()
  await prepareGraph(env)
  const before = await stat(graph)
  await using second = await startRouter(env)
  await second.until(isRoute, alongStreet(0, 8))
  await expectOutcomes(second, { loaded: 1, built: 0 })
  expect((await stat(graph)).mtimeMs).toBe(before.mtimeMs)
})

describe('a graph file is built anew', () => {
  let town: Awaited<ReturnType<typeof makeTown>>
  let whole: Buffer
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-router-'))
    town = await makeTown('Old', folder)
    await prepareGraph(town.env)
    whole = await readFile(town.graph)
    return () => rm(folder, { recursive: true, force: true })
  })

  test.each<[string, (path: string) => Promise<void>]>([
    ['is cut short', (path) => truncate(path, 5000)],
    ['is empty', (path) => truncate(path, 0)],
    ['has one bit changed', (path) => flipBit(path, 0.9)],
    ['has a damaged directory', (path) => flipBit(path, 0.0001)],
    ['has another version', (path) => setVersion(path, 99)],
    ['is something else', (path) => writeFile(path, 'PMTiles and nothing that routes')],
  ])('when it %s', async (_, damage) => {
    const { env, graph } = town
    await writeFile(graph, whole)
    await damage(graph)
    expect((await firstGraph(env)).outcome).toBe('built')
    expect(whole.equals(await readFile(graph))).toBe(true)
  })
})

async function flipBit(path: string, at: number): Promise<void> {
  await using file = await open(path, 'r+')
  const position = Math.floor((await file.stat()).size * at)
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, position)
  buffer[0]! ^= 8
  await file.write(buffer, 0, 1, position)
}

async function setVersion(path: string, version: number): Promise<void> {
  await using file = await open(path, 'r+')
  await file.write(Uint8Array.of(version, 0, 0, 0), 0, 4, 4)
}

test('after a start with changed extracts the earlier graph serves until the new one is built', async () => {
  const { env, extract } = await makeTown()
  await prepareGraph(env)
  await writeTown(extract, { name: 'New', columns: [0, 8] })
  const swap = vi.spyOn(Engine.prototype, 'swap')
  onTestFinished(() => swap.mockRestore())
  await using second = await startRouter(env, buildInProcess)
  await second.until(isNew, alongStreet(0, 8))
  const [before, after] = swap.mock.calls.map(([network]) => factsOf(network))
  expect(before?.inputs).not.toBe(after?.inputs)
  expect(swap).toHaveBeenCalledTimes(2)
  await expectOutcomes(second, { loaded: 0, built: 1 })
})

test('a graph of other extracts is not served in the meantime; one of the other driving side is replaced', async () => {
  const { env, folder, graph } = await makeTown()
  await prepareGraph(env)
  const swap = vi.spyOn(Engine.prototype, 'swap')
  onTestFinished(() => swap.mockRestore())
  const other = join(folder, 'other.osm.pbf')
  await writeTown(other, { name: 'Other', columns: [0, 8] })
  const changed = { ...env, TERRANE_ROUTING_OSM: other }
  {
    await using second = await startRouter(changed)
    expect(streetsOf(await second.until(isRoute, alongStreet(0, 8)))).toEqual(['Other Street 4'])
    expect(swap).toHaveBeenCalledTimes(1)
  }
  const before = await stat(graph)
  await using third = await startRouter({ ...changed, TERRANE_ROUTING_DRIVING_SIDE: 'right' })
  await third.until(isRoute, alongStreet(0, 8))
  await third.untilMetric(BUILT)
  expect((await stat(graph)).ino).not.toBe(before.ino)
})

test('without extracts the graph file is served as it is, and a new one in its place is noticed', async () => {
  const [old, next] = [await makeTown('Old'), await makeTown('New')]
  for (const { env } of [old, next]) await prepareGraph(env)
  await using router = await startRouter({ TERRANE_ROUTING_GRAPH: old.graph, ...settingsOf({ watchMs: 50 }) })
  expect(streetsOf(await router.until(isRoute, alongStreet(0, 8)))).toEqual(['Old Street 4'])
  await writeFile(old.graph, 'damaged')
  await router.untilMetric(FAILED)
  expect(streetsOf(await router.route(alongStreet(0, 8)))).toEqual(['Old Street 4'])
  await writeFile(old.graph, await readFile(next.graph))
  await router.until(isNew, alongStreet(0, 8))
})

test('a graph of its own on a local disk is mapped into memory, one that it is given is copied; a setting overrules both', async () => {
  const { env, folder, graph } = await makeTown()
  const given = { TERRANE_ROUTING_GRAPH: graph }
  const memories: string[] = []
  for (const settings of [
    env,
    { ...env, ...settingsOf({ watchMs: 50, graphMemory: 'copied' }) },
    given,
    { ...given, ...settingsOf({ graphMemory: 'mapped' }) },
  ]) {
    const { network } = await firstGraph(settings)
    const { buffer } = network.file
    memories.push(buffer instanceof SharedArrayBuffer ? 'copied' : 'mapped')
  }
  expect(memories).toEqual([(await isOnLocalDisk(folder)) ? 'mapped' : 'copied', 'copied', 'copied', 'mapped'])
})

test('a restart without its extract serves the graph that was made of it, and follows the extract when it is back', async () => {
  const { env, extract, graph } = await makeTown()
  await prepareGraph(env)
  await rm(extract)
  await using router = await startRouter(env)
  expect(streetsOf(await router.until(isRoute, alongStreet(0, 8)))).toEqual(['Old Street 4'])
  await expect.poll(() => fetch(`${router.url}/health/ready`).then(({ status }) => status)).toBe(200)
  await writeTown(extract, { name: 'New', columns: [0, 8] })
  await router.until(isNew, alongStreet(0, 8))
  const other = startRouter({ ...env, TERRANE_ROUTING_OSM: `${extract}.other`, TERRANE_ROUTING_GRAPH: graph })
  await expect(other).rejects.toMatchObject({ code: 'EXTRACT_MISSING' })
})

test('an extract that is gone is logged once, by its name and without a stack, until it is back', async () => {
  const { env, extract } = await makeTown()
  const error = vi.fn<Logger['error']>()
  await using router = await startRouter(env)
  router.deps.logger.error = error
  await router.until(isRoute, alongStreet(0, 8))
  await rm(extract)
  await expect.poll(() => router.metric(FAILED), { timeout: 30_000 }).toBeGreaterThan(1)
  expect(error.mock.calls).toEqual([
    [
      {
        code: 'EXTRACT_MISSING',
        reason: `TERRANE_ROUTING_OSM: ${extract} cannot be read (there is no such file)`,
        graph: env.TERRANE_ROUTING_GRAPH,
      },
      'the routing graph could not be brought up to date',
    ],
  ])
  await writeTown(extract, { name: 'New', columns: [0, 8] })
  await router.until(isNew, alongStreet(0, 8))
})

test('files that are not there end the start and are named', async () => {
  const folder = await makeFolder()
  const TERRANE_ROUTING_GRAPH = join(folder, 'graph.bin')
  await expect(startRouter({ TERRANE_ROUTING_GRAPH })).rejects.toMatchObject({ code: 'NOTHING_TO_SERVE' })
  const TERRANE_ROUTING_OSM = join(folder, 'missing.osm.pbf')
  const missing = startRouter({ TERRANE_ROUTING_OSM, TERRANE_ROUTING_GRAPH })
  await expect(missing).rejects.toThrow(`${TERRANE_ROUTING_OSM} cannot be read (there is no such file)`)
})

test('an extract that no graph can be made of: readiness says down until there is a better one', async () => {
  const { env, extract } = await makeTown()
  await writeFile(extract, 'no map at all')
  await using router = await startRouter(env)
  await router.untilMetric(FAILED)
  const ready = await fetch(`${router.url}/health/ready`)
  expect(await ready.json()).toEqual({ status: 'down', checks: { graph: 'down' } })
  expect((await router.route(alongStreet(0, 8))).body.error_code).toBe(503_001)
  await writeTown(extract, { name: 'Old', columns: [0, 8] })
  await router.until(isRoute, alongStreet(0, 8))
  expect(await router.metric(FAILED)).toBe(1)
})

test('of several extracts the one that cannot be read is named', async () => {
  const { env, extract, folder } = await makeTown()
  const broken = join(folder, 'broken.osm.pbf')
  await writeFile(broken, (await readFile(extract)).subarray(0, 300))
  await using router = await startRouter({ ...env, TERRANE_ROUTING_OSM: `${extract},${broken}` }, buildInProcess)
  await router.untilMetric(FAILED)
  const message = `Building the routing graph failed: ${broken}: The OSM file ends at byte 300`
  expect(router.deps.keeper.failure?.message).toContain(message)
})

test('a folder that cannot be written is named, and tried again until it can', async () => {
  const { env, folder } = await makeTown()
  const place = join(folder, 'place')
  await writeFile(place, 'a file where a folder should be')
  await using router = await startRouter({ ...env, TERRANE_ROUTING_GRAPH: join(place, 'graph.bin') })
  await router.untilMetric(FAILED)
  expect(router.deps.keeper.failure).toMatchObject({
    code: 'GRAPH_FOLDER_UNWRITABLE',
    message: expect.stringContaining(place) as unknown,
  })
  await rm(place)
  await router.until(isRoute, alongStreet(0, 8))
  expect(await readdir(place)).toContain('graph.bin')
})

test('an extract from a URL is downloaded once, asked for at the next start, and renewed when it changed', async () => {
  const { folder, extract } = await makeTown()
  const asked: (string | undefined)[] = []
  let tag = '"1"'
  let isUp = true
  const host = await serveFiles((request, response) => {
    asked.push(request.headers['if-none-match'])
    if (!isUp) response.writeHead(500).end()
    else if (request.headers['if-none-match'] === tag) response.writeHead(304).end()
    else void readFile(extract).then((bytes) => response.writeHead(200, { etag: tag }).end(bytes))
  })
  const env = {
    TERRANE_ROUTING_OSM: `http://${host}/town.osm.pbf?signature=secret`,
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
    ...settingsOf({ watchMs: 50 }),
    TERRANE_FETCH_ALLOW_HOSTS: host,
  }
  await prepareGraph(env)
  expect(asked).toEqual([undefined])
  {
    await using second = await startRouter(env)
    await second.until(isRoute, alongStreet(0, 8))
    expect(asked).toEqual([undefined, '"1"'])
    await expectOutcomes(second, { loaded: 1, built: 0 })
    tag = '"2"'
    await writeTown(extract, { name: 'New', columns: [0, 8] })
    second.deps.keeper.refresh()
    await second.until(isNew, alongStreet(0, 8))
    expect(asked).toEqual([undefined, '"1"', '"1"'])
  }
  // A server that is down does not prevent a start.
  isUp = false
  await using third = await startRouter(env)
  expect(streetsOf(await third.until(isRoute, alongStreet(0, 8)))).toEqual(['New Street 4'])
  expect(asked.at(-1)).toBe('"2"')
})

test('a URL into a private network is refused unless the operator allows it', async () => {
  const { folder } = await makeTown()
  await using router = await startRouter({
    TERRANE_ROUTING_OSM: 'http://127.0.0.1:9/town.osm.pbf',
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
  })
  await router.untilMetric(FAILED)
  expect(router.deps.keeper.failure).toMatchObject({ code: 'URL_REFUSED' })
})
