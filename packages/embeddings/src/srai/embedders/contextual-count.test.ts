import { seededRandom } from '@terrane/core'
import { cellToLatLng, gridDisk, gridDistance, latLngToCell } from 'h3-js'
import { describe, expect, test } from 'vitest'

import type { Position } from '../geometry.ts'
import { parseOsmFilter } from '../osm-filter.ts'
import { type RegionEmbeddings, embedRegions } from '../region-embeddings.ts'
import type { Tags } from '../tag-columns.ts'
import type { Aggregation } from './contextual-count.ts'
import type { RegionFeature } from './count-features.ts'
import type { RegionEmbedder } from './embedder.ts'

function pointIn(cell: string, tags: Tags): RegionFeature {
  const [y, x] = cellToLatLng(cell)
  const coordinates: Position = [x, y]
  return { tags, geometry: { type: 'Point', coordinates } }
}

function rowsOf({ cells, dims, read }: RegionEmbeddings): number[][] {
  return cells.map((_, row) => {
    const out = new Float64Array(dims)
    read(row, out)
    return [...out]
  })
}

/** Three cells around one corner, as in srai's own tests: a pub; a playground; a pub that is an arcade, too. */
const cells = ['891e2040897ffff', '891e2040d4bffff', '891e2040d5bffff']
const features = [
  pointIn(cells[0]!, { amenity: 'pub' }),
  pointIn(cells[1]!, { leisure: 'playground' }),
  pointIn(cells[2]!, { leisure: 'adult_gaming_centre', amenity: 'pub' }),
]
const embed = (
  embedder: RegionEmbedder,
  filter: unknown = { leisure: true, amenity: true },
): Promise<RegionEmbeddings> => embedRegions({ cells, features, filter: parseOsmFilter(filter), embedder })

describe('counts', () => {
  test('are of keys, or of values', async () => {
    const keys = await embed({ kind: 'count', subcategories: false })
    expect(keys.names).toEqual(['amenity', 'leisure'])
    expect(rowsOf(keys)).toEqual([
      [1, 0],
      [0, 1],
      [1, 1],
    ])
    expect(keys.features).toBe(3)
    const values = await embed({ kind: 'count' })
    expect(values.names).toEqual(['amenity_pub', 'leisure_adult_gaming_centre', 'leisure_playground'])
    expect(rowsOf(values)).toEqual([
      [1, 0, 0],
      [0, 0, 1],
      [1, 1, 0],
    ])
  })

  test('of values that are named but absent are 0; a filter that could find nothing is refused', async () => {
    const absent = await embed({ kind: 'count' }, { shop: ['kiosk', 'deli'] })
    expect(absent.names).toEqual(['shop_deli', 'shop_kiosk'])
    expect(rowsOf(absent)).toEqual([
      [0, 0],
      [0, 0],
      [0, 0],
    ])
    await expect(embed({ kind: 'count' }, { shop: true })).rejects.toMatchObject({ code: 'NO_MATCHING_FEATURES' })
  })

  test('that would be longer than a vector can be are refused', async () => {
    const many = Array.from({ length: 16_001 }, (_, i) => pointIn(cells[0]!, { ref: String(i) }))
    const filter = parseOsmFilter({ ref: true })
    const pending = embedRegions({ cells, features: many, filter, embedder: { kind: 'count' } })
    await expect(pending).rejects.toMatchObject({ code: 'TOO_MANY_DIMENSIONS' })
  })
})

test('the fingerprint tells whether embeddings can be compared', async () => {
  const fingerprint = async (embedder: RegionEmbedder, filter?: unknown): Promise<string> =>
    (await embed(embedder, filter)).fingerprint
  const squashed = await fingerprint({ kind: 'contextual-count' })
  expect(squashed).toMatch(/^[0-9a-f]{64}$/)
  expect(await fingerprint({ kind: 'contextual-count', distance: 1, concat: false })).toBe(squashed)
  expect(await fingerprint({ kind: 'contextual-count', distance: 2 })).not.toBe(squashed)
  expect(await fingerprint({ kind: 'count', subcategories: false })).not.toBe(squashed)
  const pubs = await fingerprint({ kind: 'count', subcategories: false }, { amenity: ['pub'] })
  const cafes = await fingerprint({ kind: 'count', subcategories: false }, { amenity: ['cafe'] })
  expect(pubs).not.toBe(cafes)
})

describe('contextual counts', () => {
  test('add the neighbours with falling weight', async () => {
    const squashed = await embed({ kind: 'contextual-count', subcategories: true })
    expect(rowsOf(squashed)).toEqual([
      [1.125, 0.125, 0.125],
      [0.25, 0.125, 1],
      [1.125, 1, 0.125],
    ])
  })

  test('or stand beside the own counts', async () => {
    const concat = await embed({ kind: 'contextual-count', concat: true })
    expect(concat.names).toEqual(['amenity_0', 'leisure_0', 'amenity_1', 'leisure_1'])
    expect(rowsOf(concat)).toEqual([
      [1, 0, 0.5, 1],
      [0, 1, 1, 0.5],
      [1, 1, 0.5, 0.5],
    ])
  })

  test('have no other neighbours than the cells of the area', async () => {
    const wide = await embed({ kind: 'contextual-count', concat: true, distance: 2, aggregation: 'sum' })
    expect(rowsOf(wide)).toEqual([
      [1, 0, 1, 2, 0, 0],
      [0, 1, 2, 1, 0, 0],
      [1, 1, 1, 1, 0, 0],
    ])
    const least = await embed({ kind: 'contextual-count', concat: true, aggregation: 'min' })
    expect(rowsOf(least)).toEqual([
      [1, 0, 0, 1],
      [0, 1, 1, 0],
      [1, 1, 0, 0],
    ])
    const most = await embed({ kind: 'contextual-count', concat: true, aggregation: 'max' })
    expect(rowsOf(most)).toEqual([
      [1, 0, 1, 1],
      [0, 1, 1, 1],
      [1, 1, 1, 1],
    ])
  })

  test.for<Aggregation>(['average', 'median', 'sum', 'min', 'max'])('equal brute force: %s', async (aggregation) => {
    const area = gridDisk(latLngToCell(45.46, 9.19, 9), 4)
    const random = seededRandom(9)
    const many = area.flatMap((cell) =>
      Array.from({ length: Math.floor(random() * 5) }, () =>
        pointIn(cell, { amenity: random() < 0.5 ? 'pub' : 'bar' }),
      ),
    )
    const request = { cells: area, features: many, filter: parseOsmFilter({ amenity: true }) }
    const plain = rowsOf(await embedRegions({ ...request, embedder: { kind: 'count' } }))
    const embedder = { kind: 'contextual-count', subcategories: true, distance: 3, concat: true, aggregation } as const
    const rows = rowsOf(await embedRegions({ ...request, embedder }))
    for (const [i, row] of rows.entries()) {
      for (let d = 1; d <= 3; d++) {
        const ring = plain.filter((_, j) => gridDistance(area[i]!, area[j]!) === d)
        for (const c of [0, 1])
          expect(row[2 * d + c]).toBeCloseTo(
            combine(
              ring.map((one) => one[c]!),
              aggregation,
            ),
            12,
          )
      }
    }
  })
})

function combine(values: readonly number[], aggregation: Aggregation): number {
  if (values.length === 0) return 0
  const sorted = values.toSorted((a, b) => a - b)
  const sum = values.reduce((total, value) => total + value, 0)
  const middle = sorted.length / 2
  const median = sorted.length % 2 === 1 ? sorted[Math.floor(middle)]! : (sorted[middle - 1]! + sorted[middle]!) / 2
  return { average: sum / values.length, sum, median, min: sorted[0]!, max: sorted.at(-1)! }[aggregation]
}
