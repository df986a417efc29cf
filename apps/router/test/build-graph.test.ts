import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { alongStreet, isRoute, makeFolder, startRouter, writeTown } from './harness.ts'

const program = fileURLToPath(new URL('../src/build-graph.ts', import.meta.url))

function buildGraph(env: Record<string, string>): Promise<{ code: number; log: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [program], { env: { ...compileCache, ...env } }, (error, stdout) =>
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, log: stdout }),
    )
  })
}

test('a graph that a job has made is served by routers without extracts, and made once', async () => {
  const folder = await makeFolder()
  const extract = join(folder, 'town.osm.pbf')
  await writeTown(extract, { name: 'Old', columns: [0, 8] })
  const graph = join(folder, 'graphs', 'graph.bin')
  const env = { TERRANE_ROUTING_OSM: extract, TERRANE_ROUTING_GRAPH: graph }
  const first = await buildGraph(env)
  expect([first.code, first.log]).toEqual([0, expect.stringContaining('building the routing graph')])
  const second = await buildGraph(env)
  expect([second.code, second.log]).toEqual([0, expect.not.stringContaining('building the routing graph')])
  await using router = await startRouter({ TERRANE_ROUTING_OSM: '', TERRANE_ROUTING_GRAPH: graph })
  await expect.poll(async () => isRoute(await router.route(alongStreet(0, 8)))).toBe(true)
})

test('a job that cannot make a graph ends with 1', async () => {
  const folder = await makeFolder()
  const env = { TERRANE_ROUTING_OSM: 'http://127.0.0.1:9/town.osm.pbf', TERRANE_FETCH_ALLOW_HOSTS: '127.0.0.1:9' }
  const { code, log } = await buildGraph({ ...env, TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin') })
  expect([code, log]).toEqual([1, expect.stringContaining('could not be brought up to date')])
})
