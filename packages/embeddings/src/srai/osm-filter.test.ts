import { TerraneError } from '@terrane/core'
import { describe, expect, test } from 'vitest'

import { filterTags, parseOsmFilter } from './osm-filter.ts'
import { osmPreset } from './presets/index.ts'
import { TagColumns, type Tags } from './tag-columns.ts'

function errorOf(action: () => unknown): TerraneError {
  try {
    action()
  } catch (error) {
    if (error instanceof TerraneError) return error
    throw error
  }
  throw new Error('nothing was thrown')
}

function namesFor(
  filter: unknown,
  subcategories: boolean,
  tags: readonly Tags[],
): { all: readonly string[]; hit: string[][] } {
  const columns = new TagColumns(parseOsmFilter(filter), subcategories)
  const hits = tags.map((one) => {
    const found: number[] = []
    columns.columnsOf(one, (column) => found.push(column))
    return found
  })
  const { names, places } = columns.sorted()
  return { all: names, hit: hits.map((found) => found.map((column) => names[places[column]!]!)) }
}

describe('a filter', () => {
  test('is read as users write it: true, one value, several values', () => {
    expect(parseOsmFilter({ amenity: ['cafe', 'pub', 'cafe'], shop: true, leisure: 'park' })).toEqual({
      kind: 'keys',
      keys: { amenity: ['cafe', 'pub'], shop: true, leisure: ['park'] },
    })
    expect(parseOsmFilter({ food: { amenity: 'cafe', shop: true }, green: { leisure: ['park'] } })).toEqual({
      kind: 'groups',
      groups: { food: { amenity: ['cafe'], shop: true }, green: { leisure: ['park'] } },
    })
  })

  test.for([
    [{}, '/osmTags', 'must have at least one key'],
    [[], '/osmTags', 'must be an object of keys and values'],
    ['amenity', '/osmTags', 'must be an object of keys and values'],
    [{ amenity: [] }, '/osmTags/amenity', 'must have at least one value'],
    [{ amenity: false }, '/osmTags/amenity', 'must be true, a value, or a list'],
    [{ amenity: ['cafe', 3] }, '/osmTags/amenity', 'must be true, a value, or a list'],
    [{ amenity: '' }, '/osmTags/amenity', 'must be true, a value, or a list'],
    [{ amenity: 'ca\0fe' }, '/osmTags/amenity', 'must be true, a value, or a list'],
    [{ '': true }, '/osmTags', 'must have keys of 1 to 255 characters'],
    [{ 'a\0': true }, '/osmTags', 'must have keys of 1 to 255 characters'],
    [{ ['k'.repeat(256)]: true }, '/osmTags', 'must have keys of 1 to 255 characters'],
    [{ food: { amenity: null } }, '/osmTags/food/amenity', 'must be true, a value, or a list'],
    [{ food: { amenity: true }, shop: true }, '/osmTags/shop', 'must be an object'],
  ] as const)('that is not one is refused with the place: %j', ([value, path, message]) => {
    const error = errorOf(() => parseOsmFilter(value))
    expect(error.code).toBe('INVALID_OSM_FILTER')
    expect(error.errors).toEqual([{ path, message: expect.stringContaining(message) }])
  })
})

test('the tags of a filter are those of all its groups', () => {
  expect([...filterTags(parseOsmFilter({ shop: 'kiosk', leisure: true }))]).toEqual([
    ['shop', ['kiosk']],
    ['leisure', true],
  ])
  const groups = { food: { shop: ['kiosk', 'deli'], amenity: 'cafe' }, more: { shop: 'kiosk', amenity: true } }
  expect([...filterTags(parseOsmFilter(groups))]).toEqual([
    ['shop', ['kiosk', 'deli']],
    ['amenity', true],
  ])
})

describe('presets', () => {
  test('go by the names of srai, in any spelling', () => {
    for (const name of ['hex2vec', 'HEX2VEC_FILTER', 'Hex2Vec']) {
      const preset = osmPreset(name)
      const values = preset.kind === 'keys' ? Object.values(preset.keys).flat() : []
      expect(values).toHaveLength(725)
    }
    expect(osmPreset('base-osm-groups').kind).toBe('groups')
    expect(osmPreset('base_osm')).toEqual(osmPreset('BASE_OSM_GROUPS_FILTER'))
    expect(osmPreset('GEOFABRIK_LAYERS').kind).toBe('groups')
    expect(osmPreset('bicycle_parking')).toEqual({ kind: 'keys', keys: { amenity: ['bicycle_parking'] } })
  })

  test('that do not exist are refused with a list of the known ones', () => {
    for (const name of ['vegan_restaurants', 'constructor', '']) {
      expect(errorOf(() => osmPreset(name))).toMatchObject({
        code: 'OSM_PRESET_UNKNOWN',
        errors: [{ path: '/osmPreset', message: expect.stringContaining('hex2vec, base_osm_groups') }],
      })
    }
  })
})

describe('columns', () => {
  test('tell values apart, and are all there when the filter names them', () => {
    const { all, hit } = namesFor({ shop: ['kiosk'], amenity: ['pub', 'cafe'] }, true, [
      { amenity: 'pub', shop: 'kiosk', name: 'x' },
      { amenity: 'school' },
    ])
    expect(all).toEqual(['amenity_cafe', 'amenity_pub', 'shop_kiosk'])
    expect(hit).toEqual([['shop_kiosk', 'amenity_pub'], []])
  })

  test('appear as values are met where every value counts', () => {
    const { all } = namesFor({ shop: true, amenity: ['pub'] }, true, [
      { shop: 'kiosk' },
      { shop: 'bakery' },
      { amenity: 'x' },
    ])
    expect(all).toEqual(['amenity_pub', 'shop_bakery', 'shop_kiosk'])
  })

  test('count a feature once per group, with the first tag that matches', () => {
    const filter = { food: { amenity: ['cafe'], shop: true }, any: { shop: 'deli', amenity: true } }
    const tags = [{ amenity: 'cafe', shop: 'deli' }, { shop: 'deli' }]
    expect(namesFor(filter, true, tags).hit).toEqual([
      ['food_amenity=cafe', 'any_shop=deli'],
      ['food_shop=deli', 'any_shop=deli'],
    ])
    expect(namesFor(filter, false, tags)).toEqual({
      all: ['any', 'food'],
      hit: [
        ['food', 'any'],
        ['food', 'any'],
      ],
    })
  })
})
