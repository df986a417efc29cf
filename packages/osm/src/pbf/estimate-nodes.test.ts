import { writeFile, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import type { OsmElement } from '../element.ts'
import { openOsm } from '../open.ts'
import { bytesSource, fileSource } from '../source.ts'
import { estimateNodes } from './estimate-nodes.ts'
import { PbfReader } from './read.ts'
import { writePbf } from './write.ts'

const nodes = (count: number, from = 1): OsmElement[] =>
  Array.from({ length: count }, (_, i) => ({ type: 'node', id: from + i, lon: 11, lat: 48 }))
const ways = (count: number): OsmElement[] =>
  Array.from({ length: count }, (_, i) => ({ type: 'way', id: i + 1, refs: [1, 2] }))
const pbf = (elements: readonly OsmElement[], blockSize: number): Uint8Array =>
  Buffer.concat([...writePbf(elements, { blockSize })])
const estimate = async (bytes: Uint8Array): Promise<number | null> => new PbfReader(bytesSource(bytes)).estimateNodes()

describe('the number of nodes', () => {
  test('is exact where blobs hold as many as each other, wherever nodes end', async () => {
    await randomCases(60, async (random) => {
      const counts = [2000, 1000].map((most) => Math.floor(random() * most)) as [number, number]
      const blockSize = 1 + Math.floor(random() ** 2 * 60)
      const found = await estimate(pbf([...nodes(counts[0]), ...ways(counts[1])], blockSize))
      expect(found, `${counts.join(' nodes, ')} ways, ${blockSize} in a block`).toBe(counts[0])
    })
  })

  test('is not too low by more than a part where blobs come in any order', async () => {
    const mixed = Array.from({ length: 90 }, (_, i) => (i % 3 === 2 ? ways(10) : nodes(10, 10 * i + 1))).flat()
    const found = await estimate(pbf(mixed, 10))
    expect(found).toBeGreaterThan(500)
    expect(found).toBeLessThanOrEqual(900)
  })

  test('is told by a file as well, and not by what is packed, damaged or XML', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'terrane-osm-'))
    try {
      const path = join(folder, 'map.osm.pbf')
      const bytes = pbf([...nodes(5000), ...ways(10)], 100)
      await writeFile(path, bytes)
      expect(await (await openOsm(await fileSource(path))).estimateNodes()).toBe(5000)
      for (const cut of [3, bytes.length - 1]) expect(await estimate(bytes.subarray(0, cut))).toBeNull()
      const xml = await openOsm(bytesSource(Buffer.from('<osm version="0.6"></osm>')))
      expect(await xml.estimateNodes()).toBeNull()
    } finally {
      await rm(folder, { recursive: true })
    }
  })

  test('is not looked for in more blobs than can be kept in mind', async () => {
    const file = await bytesSource(pbf(nodes(100), 10)).open!()
    expect(await estimateNodes(file, undefined, 10)).toBe(100)
    await expect(estimateNodes(file, undefined, 9)).rejects.toMatchObject({ code: 'OSM_TOO_LARGE' })
  })

  test('can be cancelled', async () => {
    const reader = new PbfReader(bytesSource(pbf(nodes(100), 10)))
    await expect(reader.estimateNodes(AbortSignal.abort())).rejects.toMatchObject({ name: 'AbortError' })
  })
})
