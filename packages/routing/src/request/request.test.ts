import { expect, it } from 'vitest'

import { DEFAULT_LIMITS } from './limits.ts'
import { RouteProblem } from './problems.ts'
import { readRequest, type RouteRequest } from './request.ts'

const A = { lat: 47.1, lon: 9.5 }
const B = { lat: 47.2, lon: 9.6 }

function copies(count: number): object[] {
  return Array.from({ length: count }, () => A)
}

function read(body: unknown): RouteRequest {
  return readRequest(typeof body === 'string' ? body : JSON.stringify(body), DEFAULT_LIMITS)
}

function problem(body: unknown): [number, string] | null {
  try {
    read(body)
    return null
  } catch (error) {
    if (error instanceof RouteProblem) return [error.body.error_code, error.body.error]
    throw error
  }
}

// Codes and messages are answers of Valhalla 3.6.1.
it.each<[string, unknown, number, string]>([
  ['text that is no JSON', '{"locations":', 100, 'Failed to parse json request'],
  ['an array', '[]', 100, 'Failed to parse json request'],
  ['very deep nesting', '['.repeat(100_000), 100, 'Failed to parse json request'],
  ['white space', ' ', 100, 'Failed to parse json request'],
  ['an empty body', '', 110, "Insufficiently specified required parameter 'locations'"],
  ['no locations', { costing: 'auto' }, 110, "Insufficiently specified required parameter 'locations'"],
  ['an empty list', { locations: [], costing: 'auto' }, 110, "Insufficiently specified required parameter 'locations'"],
  ['one location', { locations: [A], costing: 'auto' }, 120, 'Insufficient number of locations provided'],
  ['no costing', { locations: [A, B] }, 124, 'No edge/node costing provided'],
  ['a costing that is no text', { locations: [A, B], costing: 5 }, 124, 'No edge/node costing provided'],
  ['a costing without letters', { locations: [A, B], costing: '' }, 124, 'No edge/node costing provided'],
  ['an unknown costing', { locations: [A, B], costing: 'plane' }, 125, "No costing method found: 'plane'"],
  [
    'a costing named like a property of all objects',
    { locations: [A, B], costing: 'constructor' },
    125,
    "No costing method found: 'constructor'",
  ],
  [
    'an unknown costing before bad locations',
    { locations: [{}], costing: 'plane' },
    125,
    "No costing method found: 'plane'",
  ],
  ['a location without a place', { locations: [A, {}], costing: 'auto' }, 130, 'Failed to parse location'],
  [
    'a latitude beyond the pole',
    { locations: [A, { lat: 91, lon: 9 }], costing: 'auto' },
    130,
    'Failed to parse location',
  ],
  [
    'an endless latitude',
    '{"locations":[{"lat":1e308,"lon":1e308},{"lat":1e309,"lon":0}],"costing":"auto"}',
    130,
    'Failed to parse location',
  ],
  [
    'a bad excluded place',
    { locations: [A, B], costing: 'auto', exclude_locations: [{}] },
    133,
    'Failed to parse avoid',
  ],
  [
    'a bad excluded area',
    { locations: [A, B], costing: 'auto', exclude_polygons: [[[1, '47']]] },
    137,
    'Failed to parse polygon',
  ],
  ['too many locations', { locations: copies(21), costing: 'auto' }, 150, 'Exceeded max locations: 20'],
  ['ten thousand locations', { locations: copies(10_000), costing: 'bus' }, 150, 'Exceeded max locations: 50'],
  [
    'too far apart',
    { locations: [A, { lat: 47, lon: 15 }], costing: 'pedestrian' },
    154,
    'Path distance exceeds the max distance limit: 250000 meters',
  ],
  [
    'too many excluded places',
    { locations: [A, B], costing: 'auto', exclude_locations: copies(51) },
    157,
    'Exceeded max avoid locations: 50',
  ],
  [
    'no date to depart at',
    { locations: [A, B], costing: 'auto', date_time: { type: 1 } },
    160,
    'Date and time required for origin for date_type of depart at',
  ],
  [
    'a date that is none',
    { locations: [A, B], costing: 'auto', date_time: { type: 1, value: 'noon' } },
    162,
    'Date and time is invalid.  Format is YYYY-MM-DDTHH:MM',
  ],
  [
    'a date of the Middle Ages',
    { locations: [A, B], costing: 'auto', date_time: { type: 2, value: '1026-06-10T08:00' } },
    162,
    'Date and time is invalid.  Format is YYYY-MM-DDTHH:MM',
  ],
  [
    'a day that is on no calendar',
    { locations: [A, B], costing: 'auto', date_time: { type: 1, value: '2026-02-31T08:00' } },
    162,
    'Date and time is invalid.  Format is YYYY-MM-DDTHH:MM',
  ],
  [
    'a recosting without a costing',
    { locations: [A, B], costing: 'auto', recostings: [{ name: 'x' }] },
    127,
    'Recostings require a valid costing parameter',
  ],
  [
    'recostings of one name',
    { locations: [A, B], costing: 'auto', recostings: [{ costing: 'bus' }, { costing: 'bus' }] },
    128,
    "Recostings require a unique 'name' field for each recosting",
  ],
  ['an unknown shape format', { locations: [A, B], costing: 'auto', shape_format: 'wkt' }, 164, 'Invalid shape format'],
  [
    'a huge excluded area',
    {
      locations: [A, B],
      costing: 'auto',
      exclude_polygons: [
        [
          [9, 47],
          [9.2, 47],
          [9.2, 47.2],
          [9, 47],
        ],
      ],
    },
    167,
    'Exceeded maximum circumference for exclude_polygons: 10000 meters',
  ],
])('refuses %s', (_, body, code, message) => {
  expect(problem(body)).toEqual([code, message])
})

it('is lenient where Valhalla is', () => {
  const { locations, units, directions, id, dateTime } = read({
    locations: [
      { lat: '47.1', lon: 369.5 },
      { ...B, type: 'stopover' },
    ],
    costing: 'auto',
    units: 'furlongs',
    directions_type: 'songs',
    id: 7,
    date_time: { type: 9 },
  })
  expect(locations[0]).toMatchObject({ lat: 47.1, lon: expect.closeTo(9.5, 9) })
  expect(locations.map(({ type }) => type)).toEqual(['break', 'break'])
  expect({ units, directions, id, dateTime }).toEqual({
    units: 'kilometers',
    directions: 'instructions',
    id: null,
    dateTime: null,
  })
})

it('reads the older places of names', () => {
  const { units, language, excludeLocations } = read({
    locations: [A, B],
    costing: 'auto',
    directions_options: { units: 'miles', language: 'de' },
    avoid_locations: [A],
  })
  expect({ units, language, places: excludeLocations.length }).toEqual({ units: 'miles', language: 'de', places: 1 })
})

it.each<[string, object, number[]]>([
  ['of hard exclusions', { costing_options: { auto: { exclude_tolls: 1 } } }, [208]],
  ['of texts of booleans, which are none', { costing_options: { auto: { exclude_tolls: 'true' } } }, [902]],
  ['of pruning', { costing_options: { auto: { disable_hierarchy_pruning: true } } }, [205]],
  ['of limits', { costing_options: { auto: { hierarchy_limits: { 1: { max_up_transitions: 9 } } } } }, [209]],
  ['of limits that limit nothing, nothing', { costing_options: { auto: { hierarchy_limits: { 1: {} } } } }, []],
  ['of the older name of alternates', { best_paths: 2 }, [103]],
])('warns %s', (_, more, codes) => {
  const { warnings } = read({ locations: [A, B], costing: 'auto', ...more })
  expect(warnings.map(({ code }) => code)).toEqual(codes)
})

it.each<[object, number, string]>([
  [{ linear_references: true }, 900, '"linear_references"'],
  [{ elevation_interval: 30 }, 900, '"elevation_interval"'],
  [{ turn_lanes: true }, 900, '"turn_lanes"'],
  [{ banner_instructions: true }, 900, '"banner_instructions"'],
  [{ voice_instructions: true }, 900, '"voice_instructions"'],
  [{ linear_cost_factors: [{}] }, 900, '"linear_cost_factors"'],
  [{ prioritize_bidirectional: true }, 900, '"prioritize_bidirectional"'],
  [{ costing: 'bikeshare' }, 900, '"bikeshare"'],
  [{ locations: [{ ...A, preferred_layer: 1 }, B] }, 900, '"preferred_layer"'],
  [{ locations: [{ ...A, search_filter: { level: 1 } }, B] }, 900, '"level"'],
  [{ costing_options: { auto: { use_feet: true, use_wings: 1 } } }, 901, '"use_feet", "use_wings": costing auto'],
  [{ costing_options: { auto: { ignore_construction: true } } }, 900, '"ignore_construction"'],
  [
    { costing_options: { auto: { use_tolls: 7 } } },
    902,
    '"use_tolls" is out of bounds or of the wrong type, using its default 0.5',
  ],
  [{ costing_options: { auto: { top_speed: 'fast' } } }, 902, '"top_speed"'],
  [{ costing: 'bicycle', costing_options: { bicycle: { bicycle_type: 'tandem' } } }, 902, '"bicycle_type"'],
  [{ format: 'pbf' }, 211, 'using json'],
])('warns of %j, which changes nothing', (more, code, text) => {
  const { warnings } = read({ locations: [A, B], costing: 'auto', ...more })
  expect(warnings.map((warning) => warning.code)).toEqual([code])
  expect(warnings[0]!.text).toContain(text)
})

it('does not warn of what asks for nothing, or is heeded', () => {
  const { warnings } = read({
    locations: [{ ...A, preferred_layer: null, search_filter: { exclude_ferry: true } }, B],
    costing: 'auto',
    costing_options: { auto: { use_tolls: 0, top_speed: '90', shortest: true }, truck: { whatever: 1 } },
    date_time: { type: 1, value: '2026-11-22T08:00' },
    recostings: [{ costing: 'bicycle' }],
    format: 'osrm',
    linear_references: false,
    elevation_interval: 0,
    turn_lanes: false,
    shape_format: 'geojson',
    prioritize_bidirectional: false,
  })
  expect(warnings).toEqual([])
})

it('keeps a warning short whatever is sent', () => {
  const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`${'x'.repeat(100)}${i}`, 1]))
  const { warnings } = read({ locations: [A, B], costing: 'auto', costing_options: { auto: many } })
  expect(warnings).toHaveLength(1)
  expect(warnings[0]!.text.length).toBeLessThan(1000)
  expect(warnings[0]!.text).toContain('and 4990 more')
})

it('wraps counts around as 32 bits do, and turns headings below north to it', () => {
  const [{ searchCutoff, nodeSnapTolerance, heading }] = read({
    locations: [{ ...A, search_cutoff: -1, node_snap_tolerance: 1e308, heading: -5 }, B],
    costing: 'auto',
  }).locations as [RouteRequest['locations'][number]]
  expect({ searchCutoff, nodeSnapTolerance, heading }).toEqual({
    searchCutoff: 2 ** 32 - 1,
    nodeSnapTolerance: 0,
    heading: 0,
  })
})

it('reads best_paths as one more than the alternates', () => {
  expect(read({ locations: [A, B], costing: 'auto', best_paths: 2, alternates: 0 }).alternates).toBe(1)
})

it('offers alternates between two locations only, and no more than the limit', () => {
  expect(read({ locations: [A, B], costing: 'auto', alternates: 9 }).alternates).toBe(2)
  expect(read({ locations: [A, B, A], costing: 'auto', alternates: 2 }).alternates).toBe(0)
})
