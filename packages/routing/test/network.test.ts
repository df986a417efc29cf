import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bytesSource, openOsm, writePbf } from '@terrane/osm'
import { buildCity } from '@terrane/testing/city'
import { afterAll, beforeAll, expect, it } from 'vitest'

import {
  buildNetwork,
  buildNetworkFile,
  factsOf,
  mapNetworkFile,
  type Network,
  openShared,
  readNetworkFile,
  Router,
  shareNetwork,
  writeNetworkFile,
} from '../src/index.ts'
import { locatedXml } from './support/located-xml.ts'
import { buildTown, openTown, placeAt, townPbf } from './support/town.ts'

const folder = mkdtempSync(join(tmpdir(), 'terrane-routing-'))
const path = join(folder, 'town.graph')
let network: Network

beforeAll(async () => {
  network = await openTown()
  await writeNetworkFile(network.file, path)
})

afterAll(() => rmSync(folder, { recursive: true }))

it('a graph file answers as the network it was written from, and nothing else is left beside it', async () => {
  const request = { locations: [placeAt(network, 0.2, 0.3), placeAt(network, 0.8, 0.7)], costing: 'bicycle' }
  const read = await readNetworkFile(path)
  expect(new Router(read).route(request)).toEqual(new Router(network).route(request))
  expect(factsOf(read)).toEqual(factsOf(network))
  expect(readdirSync(folder)).toEqual(['town.graph'])
})

it('a mapped graph file answers as one that was read, also when another has taken its place', async () => {
  const copy = join(folder, 'mapped.graph')
  writeFileSync(copy, readFileSync(path))
  const mapped = await mapNetworkFile(copy)
  const next = join(folder, 'next.graph')
  writeFileSync(next, 'another file')
  renameSync(next, copy)
  const read = await readNetworkFile(path)
  const request = { locations: [placeAt(network, 0.2, 0.3), placeAt(network, 0.8, 0.7)], costing: 'bicycle' }
  // Such options have a hierarchy of their own, which another thread makes of the shared network.
  const slow = { ...request, costing_options: { bicycle: { cycling_speed: 11 } } }
  await using routers = new AsyncDisposableStack()
  for (const each of [mapped, read]) {
    const router = new Router(each)
    routers.defer(() => router.close())
    expect(await router.ready(slow)).toBe(true)
    for (const asked of [request, slow])
      expect(router.answer(JSON.stringify(asked))).toEqual(new Router(network).answer(JSON.stringify(asked)))
  }
  expect(factsOf(await openShared(shareNetwork(mapped)))).toEqual(factsOf(network))
  rmSync(copy)
})

it('the same extract makes the same file, byte for byte', async () => {
  const copy = join(folder, 'again.graph')
  await writeNetworkFile((await buildTown({ drivingSide: 'right' })).file, copy)
  expect(readFileSync(copy).equals(readFileSync(path))).toBe(true)
  rmSync(copy)
})

it('a network that is built as a file is the same file, and nothing is left of a build that fails', async () => {
  const copy = join(folder, 'built.graph')
  const reader = await openOsm(bytesSource(townPbf(), 'town.osm.pbf'))
  await buildNetworkFile([reader], copy, { drivingSide: 'right' })
  expect(readFileSync(copy).equals(readFileSync(path))).toBe(true)
  rmSync(copy)
  const late = {
    drivingSide: 'right',
    onProgress: ({ phase }: { phase: string }) => {
      if (phase === 'hierarchies') throw new Error('enough')
    },
  } as const
  await expect(buildNetworkFile([reader], copy, late)).rejects.toThrow('enough')
  expect(readdirSync(folder)).toEqual(['town.graph'])
})

it('ways and relations in any order, once or twice, make the same network', async () => {
  const { elements, header } = buildCity()
  const ways = elements.filter(({ type }) => type === 'way')
  const mixed = [...elements.filter(({ type }) => type !== 'way'), ...ways.toReversed(), ...ways]
  const reader = await openOsm(bytesSource(Buffer.concat([...writePbf(mixed, header)]), 'town.osm.pbf'))
  const copy = join(folder, 'mixed.graph')
  await buildNetworkFile([reader], copy, { drivingSide: 'right' })
  expect(readFileSync(copy).equals(readFileSync(path))).toBe(true)
  rmSync(copy)
})

it('two copies of an extract make the network of one', async () => {
  const reader = (): ReturnType<typeof openOsm> => openOsm(bytesSource(townPbf(), 'town.osm.pbf'))
  const doubled = await buildNetwork([await reader(), await reader()], { drivingSide: 'right' })
  expect(factsOf(doubled)).toMatchObject({ nodes: factsOf(network).nodes, edges: factsOf(network).edges })
})

it('an extract that keeps locations on its ways, and no nodes without tags, makes the same file', async () => {
  const copy = join(folder, 'located.graph')
  const located = await openOsm(bytesSource(Buffer.from(locatedXml(buildCity().elements)), 'town.osm.pbf'))
  await writeNetworkFile((await buildNetwork([located], { drivingSide: 'right' })).file, copy)
  expect(readFileSync(copy).equals(readFileSync(path))).toBe(true)
  rmSync(copy)
})

it.each([
  ['is cut short', (file: string) => truncateSync(file, 100_000)],
  ['is cut within its header', (file: string) => truncateSync(file, 12)],
  ['is empty', (file: string) => truncateSync(file, 0)],
  ['is something else', (file: string) => writeFileSync(file, 'GIF89a'.repeat(100))],
  ['is of a later version', (file: string) => writeFileSync(file, patched(4, 99))],
  ['is of version 8, which knew less of the law', (file: string) => writeFileSync(file, patched(4, 8))],
  ['has one other byte', (file: string) => writeFileSync(file, patched(50_000, 0x12345678))],
])('a graph file that %s is refused as no graph', async (_, damage) => {
  const copy = join(folder, 'damaged.graph')
  writeFileSync(copy, readFileSync(path))
  damage(copy)
  for (const open of [readNetworkFile, mapNetworkFile])
    await expect(open(copy)).rejects.toMatchObject({ code: 'NOT_A_GRAPH' })
  rmSync(copy)
})

it('an extract without a street is refused, and named', async () => {
  const pond = writePbf([
    { type: 'node', id: 1, lon: 9, lat: 47, tags: {} },
    { type: 'node', id: 2, lon: 9.1, lat: 47, tags: {} },
    { type: 'way', id: 1, refs: [1, 2], tags: { natural: 'water' } },
  ])
  await expect(
    buildNetwork([await openOsm(bytesSource(Buffer.concat([...pond]), 'pond.osm.pbf'))]),
  ).rejects.toMatchObject({
    code: 'EMPTY_NETWORK',
    message: expect.stringContaining('pond.osm.pbf'),
  })
})

it('closing a router ends its thread before the process, whatever that still sends', () => {
  const { status, stdout } = spawnSync(process.execPath, [
    join(import.meta.dirname, 'fixtures/close-while-preparing.ts'),
  ])
  expect([status, String(stdout)]).toEqual([0, 'closed\n'])
})

function patched(at: number, value: number): Buffer {
  const bytes = readFileSync(path)
  bytes.writeUInt32LE(value, at)
  return bytes
}
