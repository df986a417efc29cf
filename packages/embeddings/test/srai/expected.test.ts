import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { gridDistance } from 'h3-js'
import { describe, expect, test } from 'vitest'

import type { RegionEmbedder } from '../../src/srai/embedders/embedder.ts'
import { CellIndex } from '../../src/srai/join/cell-index.ts'
import { type OsmFilter, type TagValues, parseOsmFilter } from '../../src/srai/osm-filter.ts'
import { PRESET_NAMES, osmPreset } from '../../src/srai/presets/index.ts'
import { embedRegions } from '../../src/srai/region-embeddings.ts'
import { needs } from '../fixtures/shared-data.ts'
import { SRAI, SRAI_CASES, readExpected, readSraiCase } from '../fixtures/srai-data.ts'

const EXPECTED: readonly (readonly [suffix: string, embedder: RegionEmbedder])[] = [
  ['count_keys', { kind: 'count', subcategories: false }],
  ['count_subcategories', { kind: 'count' }],
  ['contextual_d2_average_squashed', { kind: 'contextual-count', distance: 2 }],
  ['contextual_d2_average_concat', { kind: 'contextual-count', distance: 2, concat: true }],
]

describe.skipIf(SRAI === null).for(SRAI_CASES)(`srai's case %s${needs(SRAI)}`, (name) => {
  test('joins the same features to the same cells', async () => {
    const { cells, features, joint } = await readSraiCase(name)
    const index = new CellIndex(cells)
    const pairs = features.flatMap(({ id, geometry }) => {
      const count = index.find(geometry)
      return Array.from(index.hits.subarray(0, count), (cell) => `${cells[cell]} ${id}`)
    })
    expect(new Set(pairs)).toEqual(joint)
    expect(pairs.length).toBe(joint.size)
  })

  test.for(EXPECTED)('has the expected embeddings %s', async ([suffix, embedder]) => {
    const { cells, features } = await readSraiCase(name)
    const keys = Object.fromEntries(features.flatMap(({ tags }) => Object.keys(tags)).map((key) => [key, true]))
    const { names, dims, read } = await embedRegions({ cells, features, filter: parseOsmFilter(keys), embedder })
    const expected = readExpected(`${name}_${suffix}`)
    expect(names).toEqual(expected.names)
    const row = new Float64Array(dims)
    for (const [i, cell] of cells.entries()) {
      read(i, row)
      for (const [c, value] of expected.rows.get(cell)!.entries()) expect(row[c]).toBeCloseTo(value, 12)
    }
    expect(cells.length).toBe(expected.rows.size)
  })
})

function cosine(a: Float64Array, b: Float64Array): number {
  return a.reduce((sum, value, d) => sum + value * b[d]!, 0) / (Math.hypot(...a) * Math.hypot(...b))
}

test.skipIf(SRAI === null)(
  `hex2vec brings neighbours closer than random pairs, by 0.3 of cosine${needs(SRAI)}`,
  async () => {
    const { cells, features } = await readSraiCase('geovex_AL_10')
    const filter = parseOsmFilter({ amenity: true, building: true })
    const { dims, losses, read } = await embedRegions({
      cells,
      features,
      filter,
      embedder: { kind: 'hex2vec', seed: 1 },
    })
    const vectors = cells.map((_, row) => {
      const out = new Float64Array(dims)
      read(row, out)
      return out
    })
    const pairs = cells.flatMap((a, i) =>
      cells.map((b, j) => ({ far: gridDistance(a, b), cosine: cosine(vectors[i]!, vectors[j]!) })),
    )
    const mean = (some: typeof pairs): number => some.reduce((sum, pair) => sum + pair.cosine, 0) / some.length
    expect(mean(pairs.filter(({ far }) => far === 1)) - mean(pairs.filter(({ far }) => far > 0))).toBeGreaterThan(0.3)
    expect(losses.at(-1)).toBeLessThan(losses[0]!)
  },
)

function sortKeys(keys: Readonly<Record<string, TagValues>>): unknown {
  const sorted = Object.entries(keys).map(([key, values]) => [key, values === true || [...new Set(values)].toSorted()])
  return Object.fromEntries(sorted)
}

/** A filter with its lists sorted and without duplicates. */
function asLists(filter: OsmFilter): unknown {
  if (filter.kind === 'keys') return sortKeys(filter.keys)
  return Object.fromEntries(Object.entries(filter.groups).map(([group, keys]) => [group, sortKeys(keys)]))
}

describe.skipIf(SRAI === null)(`presets${needs(SRAI)}`, () => {
  test.for(['HEX2VEC_FILTER', 'BASE_OSM_GROUPS_FILTER', 'GEOFABRIK_LAYERS'])('%s has the tags of srai', (name) => {
    const all: unknown = JSON.parse(readFileSync(join(SRAI!, 'expected/filters.json'), 'utf8'))
    const expected =
      typeof all === 'object' && all !== null ? Object.entries(all).find(([key]) => key === name)?.[1] : null
    expect(asLists(osmPreset(name))).toEqual(asLists(parseOsmFilter(expected)))
    expect(PRESET_NAMES).toContain(name.toLowerCase().replace('_filter', ''))
  })
})
