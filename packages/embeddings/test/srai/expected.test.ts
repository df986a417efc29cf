import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { describe, expect, test } from 'vitest'

import type { RegionEmbedder } from '../../src/srai/embedders/embedder.ts'
import { CellIndex } from '../../src/srai/join/cell-index.ts'
import { type OsmFilter, parseOsmFilter } from '../../src/srai/osm-filter.ts'
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

/** As srai writes a filter: lists of values, or true; duplicates and order do not matter. */
function asLists(filter: OsmFilter): unknown {
  const sort = (keys: Readonly<Record<string, true | readonly string[]>>): unknown =>
    Object.fromEntries(
      Object.entries(keys).map(([key, values]) => [key, values === true || [...new Set(values)].toSorted()]),
    )
  if (filter.kind === 'keys') return sort(filter.keys)
  return Object.fromEntries(Object.entries(filter.groups).map(([group, keys]) => [group, sort(keys)]))
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
