// Damaged files through the whole import: an error of the catalogue, or rows that are sound, and never anything else.
import { gzipSync } from 'node:zlib'
import { TerraneError, seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { TOPICS, bytesSource, importOsmArea, openOsm, writePbf } from '../src/index.ts'
import type { OsmElement, OsmTags } from '../src/index.ts'

const SIDE = 6

/** A grid of nodes with a street, a building, a lake with an island and a route on it. */
function mapElements(): OsmElement[] {
  const at = (x: number, y: number): number => y * SIDE + x + 1
  const ring = (x: number, y: number, size: number): number[] => [
    at(x, y),
    at(x + size, y),
    at(x + size, y + size),
    at(x, y + size),
    at(x, y),
  ]
  const way = (id: number, refs: number[], tags: OsmTags = {}): OsmElement => ({ type: 'way', id, refs, tags })
  const relation = (id: number, ways: number[], tags: OsmTags): OsmElement => {
    const members = ways.map((ref, i) => ({ type: 'way', ref, role: i === 0 ? 'outer' : 'inner' }) as const)
    return { type: 'relation', id, members, tags }
  }
  const nodes = Array.from({ length: SIDE * SIDE }, (_, i): OsmElement => {
    const place = { lon: 11 + (i % SIDE) / 100, lat: 48 + Math.floor(i / SIDE) / 100 }
    return { type: 'node', id: i + 1, ...place, tags: i % 5 === 0 ? { shop: 'bakery', name: `Ärmel ${i}` } : {} }
  })
  return [
    ...nodes,
    way(1, [at(0, 0), at(1, 0), at(2, 0), at(3, 1)], { highway: 'residential', maxspeed: '30 mph' }),
    way(2, ring(4, 4, 1), { building: 'yes', height: '12.5 m' }),
    way(3, ring(0, 1, 4)),
    way(4, ring(1, 2, 2)),
    relation(1, [3, 4], { type: 'multipolygon', natural: 'water' }),
    relation(2, [1], { type: 'route', route: 'bus' }),
  ]
}

const pack = (options: Parameters<typeof writePbf>[1]): Uint8Array =>
  Buffer.concat([...writePbf(mapElements(), options)])

test.for<[string, Uint8Array]>([
  ['plain', pack({ compression: 'none' })],
  ['in small blocks', pack({ compression: 'none', blockSize: 7, dense: false })],
  ['in zlib', pack({})],
  ['in zstd', pack({ compression: 'zstd' })],
  ['in gzip', gzipSync(pack({ compression: 'none' }))],
])('a damaged file is refused or imported: %s', async ([, good]) => {
  const random = seededRandom(5)
  const codes = new Set<string>()
  for (let round = 0; round < 60; round++) codes.add(await outcome(damaged(good, random)))
  expect([...codes]).toEqual(expect.arrayContaining(['OSM_MALFORMED', 'OSM_TRUNCATED']))
  await randomCases(400, async (draw) => {
    codes.add(await outcome(damaged(good, draw)))
    expect([...codes].filter((code) => !code.startsWith('OSM_') && code !== 'imported')).toEqual([])
  })
  expect(await outcome(good)).toBe('imported')
})

function damaged(good: Uint8Array, random: () => number): Uint8Array {
  const place = (): number => Math.floor(random() * good.length)
  const way = Math.floor(random() * 8)
  if (way === 0) return good.subarray(0, place())
  if (way === 1) {
    const at = place()
    return Buffer.concat([good.subarray(0, at), good.subarray(at + 1 + Math.floor(random() * 12))])
  }
  const bytes = Uint8Array.from(good)
  if (way === 2) bytes.copyWithin(place(), place(), good.length)
  else if (way === 3) bytes.fill(255, place(), place())
  else for (let i = 0; i < way - 3; i++) bytes[place()]! ^= 1 << Math.floor(random() * 8)
  return bytes
}

async function outcome(bytes: Uint8Array): Promise<string> {
  try {
    const write = (_: number, rows: readonly (readonly unknown[])[]): void => {
      for (const row of rows) {
        expect(JSON.parse(String(row.at(-2)))).toBeTypeOf('object')
        expect(row.at(-1)).toBeInstanceOf(Uint8Array)
      }
    }
    const reader = await openOsm(bytesSource(bytes))
    await reader.estimateNodes()
    await importOsmArea(reader, null, [...TOPICS, 'all'], { write }, { maxNodes: 2 ** 20 })
    return 'imported'
  } catch (error) {
    if (error instanceof TerraneError) return error.code
    throw error
  }
}
