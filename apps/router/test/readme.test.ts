import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { expect, test } from 'vitest'
import { makeFolder, startRouter, type Answer } from './harness.ts'

test("the README's request is routed on the demo town", async () => {
  const readme = await readFile(new URL('../README.md', import.meta.url), 'utf8')
  const request = /```json\n(.*?)```/s.exec(readme)?.[1]
  const folder = await makeFolder()
  const extract = join(folder, 'town.osm.pbf')
  await writeFile(extract, writePbf(buildCity().elements))
  await using router = await startRouter({
    TERRANE_ROUTING_OSM: extract,
    TERRANE_ROUTING_GRAPH: join(folder, 'graph.bin'),
  })
  const { status, body } = await router.until((answer: Answer) => answer.status !== 503, request)
  expect({ status, body }).toMatchObject({
    status: 200,
    body: { id: 'across the demo town', trip: { units: 'miles', legs: [{ maneuvers: expect.any(Array) }] } },
  })
})
