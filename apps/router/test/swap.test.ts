import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { buildInProcess, type BuildGraph } from '../src/graph/build.ts'
import {
  alongStreet,
  buildHere,
  isRoute,
  makeFolder,
  startRouter,
  streetsOf,
  writeTown,
  type Answer,
  settingsOf,
} from './harness.ts'

test('new data takes over under load: every request is answered by the old graph or by the new one', async () => {
  const folder = await makeFolder()
  const extract = join(folder, 'town.osm.pbf')
  await writeTown(extract, { name: 'Town 0', columns: [0, 8] })
  let builds = 0
  // One of them in a process of its own, as in service: requests are answered all the time.
  const build: BuildGraph = (...args) => (++builds === 2 ? buildInProcess : buildHere)(...args)
  const env = {
    TERRANE_ROUTING_OSM: extract,
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
    ...settingsOf({ watchMs: 50 }),
    TERRANE_ROUTING_THREADS: '2',
  }
  await using router = await startRouter(env, build)
  await router.until(isRoute, alongStreet(0, 8))

  const done = new AbortController()
  const clients = Array.from({ length: 8 }, async (_, row) => {
    const answers: Answer[] = []
    while (!done.signal.aborted) {
      answers.push(await router.route(alongStreet(0, 8, row)))
      // Leaves the builds a share of a small machine.
      await sleep(10)
    }
    return answers
  })
  for (const swap of [1, 2, 3]) {
    await writeTown(extract, { name: `Town ${swap}`, columns: [0, 8] })
    await router.until((answer) => streetsOf(answer)[0] === `Town ${swap} Street 0`, alongStreet(0, 8, 0))
  }
  done.abort()
  for (const answers of await Promise.all(clients)) {
    expect(answers.filter((answer) => !isRoute(answer))).toEqual([])
    // No client is answered by an older graph than before.
    const towns = answers.map((answer) => streetsOf(answer)[0]!.slice(0, 6))
    expect(towns).toEqual(towns.toSorted())
  }
  // A graph is counted a moment after it answers.
  const built = () => router.metric('routing_graphs_total{outcome="built"')
  await expect.poll(built).toBe(4)
})

test('a stop answers what was asked before', async () => {
  const folder = await makeFolder()
  const extract = join(folder, 'town.osm.pbf')
  await writeTown(extract, { name: 'Town', columns: [0, 8] })
  const router = await startRouter({
    TERRANE_ROUTING_OSM: extract,
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
  })
  await router.until(isRoute, alongStreet(0, 8))
  const { engine } = router.deps
  const asked = Array.from({ length: 50 }, () => engine.answer(JSON.stringify(alongStreet(0, 8))))
  await router[Symbol.asyncDispose]()
  expect((await Promise.all(asked)).every(({ status }) => status === 200)).toBe(true)
})
