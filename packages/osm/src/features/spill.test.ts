import { seededRandom } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import { memoryScratch } from '../../test/memory-scratch.ts'
import type { OsmElement } from '../element.ts'
import { PbfReader } from '../pbf/read.ts'
import { writePbf } from '../pbf/write.ts'
import { bytesSource } from '../source.ts'
import { TOPICS } from '../topics/tables.ts'
import { importOsmArea } from '../topics/import-area.ts'
import type { ImportOptions } from '../topics/import-area.ts'

const SIDE = 60

/** Squares on a grid, some of them islands in others by relations; with `isSorted` as a usual extract, else mixed up. */
function mapOf(isSorted: boolean): OsmElement[] {
  const random = seededRandom(8)
  const at = (x: number, y: number): number => y * SIDE + x + 1
  const ring = (x: number, y: number, size: number): number[] => [
    at(x, y),
    at(x + size, y),
    at(x + size, y + size),
    at(x, y + size),
    at(x, y),
  ]
  const elements: OsmElement[] = Array.from({ length: SIDE * SIDE }, (_, i) => ({
    type: 'node',
    id: i + 1,
    lon: 11 + (i % SIDE) / 1000,
    lat: 48 + Math.floor(i / SIDE) / 1000,
    tags: i % 50 === 0 ? { shop: 'bakery' } : {},
  }))
  for (let i = 0; i < 400; i++) {
    const [x, y] = [Math.floor(random() * (SIDE - 4)), Math.floor(random() * (SIDE - 4))]
    const [outer, inner] = [2 * i + 1, 2 * i + 2]
    elements.push({ type: 'way', id: outer, refs: ring(x, y, 3), tags: i % 3 === 0 ? { building: 'yes' } : {} })
    elements.push({ type: 'way', id: inner, refs: ring(x + 1, y + 1, 1), tags: { highway: 'path' } })
    const members = [outer, inner].map((ref) => ({ type: 'way', ref, role: '' }) as const)
    elements.push({ type: 'relation', id: i + 1, members, tags: { type: 'multipolygon', natural: 'water' } })
  }
  const rank = { node: 0, way: 1, relation: 2 }
  if (isSorted) return elements.toSorted((a, b) => rank[a.type] - rank[b.type] || a.id - b.id)
  const places = new Map(elements.map((element) => [element, random()]))
  return elements.toSorted((a, b) => places.get(a)! - places.get(b)!)
}

const FILES = new Map(
  [true, false].map((isSorted) => [isSorted, Buffer.concat([...writePbf(mapOf(isSorted), { blockSize: 100 })])]),
)

async function rowsOf(isSorted: boolean, options: ImportOptions): Promise<string[]> {
  const rows: string[] = []
  const write = (table: number, batch: readonly (readonly unknown[])[]): void => {
    for (const row of batch) {
      const shown = row.map((value) => (value instanceof Uint8Array ? Buffer.from(value).toString('hex') : value))
      rows.push(JSON.stringify([table, ...shown]))
    }
  }
  const source = bytesSource(FILES.get(isSorted)!)
  await importOsmArea(new PbfReader(source), null, [...TOPICS], { write }, options)
  return rows
}

describe.for([
  ['a sorted file', true],
  ['a file in any order', false],
] as const)('%s', ([, isSorted]) => {
  test('gives the same rows whatever memory there is, and leaves no temporary file', async () => {
    const expected = await rowsOf(isSorted, {})
    expect(expected.length).toBeGreaterThan(900)
    for (const memoryBytes of [0, 5000, 30_000, 1e6]) {
      const { state, openScratch } = memoryScratch()
      const rows = await rowsOf(isSorted, { spill: { memoryBytes, openScratch }, expectedNodes: SIDE * SIDE })
      expect(rows).toEqual(expected)
      expect(state).toMatchObject({ opened: memoryBytes < 1e6 ? 2 : 0, open: 0 })
    }
  })

  test('leaves no temporary file where the disk is full or the import is cancelled', async () => {
    const { state: needed, openScratch } = memoryScratch()
    await rowsOf(isSorted, { spill: { memoryBytes: 5000, openScratch } })
    for (let capacity = 0; capacity < needed.written; capacity += Math.ceil(needed.written / 7)) {
      const full = memoryScratch(capacity)
      const spill = { memoryBytes: 5000, openScratch: full.openScratch }
      await expect(rowsOf(isSorted, { spill })).rejects.toMatchObject({ code: 'ENOSPC' })
      expect(full.state.open).toBe(0)
    }
    for (const phase of ['nodes', 'ways', 'relations']) {
      const scratch = memoryScratch()
      const controller = new AbortController()
      const cancelled = rowsOf(isSorted, {
        spill: { memoryBytes: 5000, openScratch: scratch.openScratch },
        signal: controller.signal,
        onProgress: (step) => {
          if (step.phase === phase && step.done > 0) controller.abort()
        },
      })
      await expect(cancelled).rejects.toMatchObject({ name: 'AbortError' })
      expect(scratch.state.open).toBe(0)
    }
  })
})
