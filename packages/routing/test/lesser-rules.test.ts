import { describe, expect, it } from 'vitest'

import { type AsciiTown, drawTown } from './support/ascii-map.ts'

const street = (name: string) => ({ highway: 'residential', name })

/** Two ways around from D to E: the short one over AB, which is tagged, and the long one over F and C. */
const square = (
  tags: Readonly<Record<string, string>>,
  nodes: Readonly<Record<string, Readonly<Record<string, string>>>> = {},
): Promise<AsciiTown> =>
  drawTown({
    map: 'A--x--B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C',
    meters: 30,
    ways: {
      AxB: { ...street('North Street'), ...tags },
      BE: street('East Street'),
      BC: street('Middle Street'),
      FC: street('South Street'),
      ADF: street('West Street'),
    },
    nodes,
  })

const SHORT = 'DAxBE'
const LONG = 'DFCBE'
const BACK = 'EBxAD'
const AROUND = 'EBCFD'

describe('a lane that changes its direction (wiki, Key:oneway, reversible; OSRM car profile)', () => {
  const at = (time: string) => ({ date_time: { type: 1, value: `2026-11-23T${time}` } })

  it('is for no vehicle where no hours are told', async () => {
    const town = await square({ oneway: 'reversible' })
    for (const costing of ['auto', 'truck', 'bus', 'taxi', 'bicycle']) {
      expect([town.route('DE', { costing }).path, town.route('ED', { costing }).path]).toEqual([LONG, AROUND])
    }
    expect(town.route('DE', { costing: 'pedestrian' }).path).toBe(SHORT)
  })

  it('runs as its hours say', async () => {
    const town = await square({
      oneway: 'reversible',
      'oneway:conditional': 'yes @ (06:00-10:00); -1 @ (15:00-19:00)',
    })
    const paths = (more: Readonly<Record<string, unknown>>): string[] => [
      town.route('DE', more).path,
      town.route('ED', more).path,
    ]
    expect(paths(at('08:00'))).toEqual([SHORT, AROUND])
    expect(paths(at('17:00'))).toEqual([LONG, BACK])
    expect(paths(at('12:00'))).toEqual([LONG, AROUND])
    expect(paths({})).toEqual([LONG, AROUND])
  })

  it('is another thing than one where traffic alternates', async () => {
    const town = await square({ oneway: 'alternating' })
    expect([town.route('DE').path, town.route('ED').path]).toEqual([SHORT, BACK])
  })
})

it('private at certain hours is no way through then (wiki, Conditional restrictions)', async () => {
  const town = await square({ 'motor_vehicle:conditional': 'private @ (22:00-06:00)' })
  const at = (time: string): string => town.route('DE', { date_time: { type: 1, value: `2026-11-23T${time}` } }).path
  expect([at('23:00'), at('12:00')]).toEqual([LONG, SHORT])
})

it.each([
  [{ oneway: 'yes', 'cycleway:left': 'lane', 'cycleway:left:oneway': '-1' }, BACK],
  [{ oneway: 'yes', 'cycleway:left': 'track', 'cycleway:left:oneway': 'no' }, BACK],
  [{ oneway: 'yes', 'cycleway:right': 'lane', 'cycleway:right:oneway': 'yes' }, AROUND],
])(
  'riders go against a one-way street on a lane of %j as on %s (wiki, Key:cycleway:left:oneway)',
  async (tags, path) => {
    const town = await square(tags)
    expect(town.route('ED', { costing: 'bicycle' }).path).toBe(path)
    expect(town.route('ED').path).toBe(AROUND)
  },
)

describe('barriers (wiki, Key:barrier; OSRM car profile)', () => {
  it.each([
    [{ barrier: 'wall', access: 'yes' }, SHORT, SHORT, SHORT],
    [{ barrier: 'fence', access: 'yes' }, SHORT, SHORT, SHORT],
    [{ barrier: 'fence', access: 'no' }, LONG, LONG, LONG],
    [{ barrier: 'bus_trap' }, LONG, SHORT, SHORT],
    [{ barrier: 'log' }, LONG, LONG, SHORT],
  ])('%j', async (tags, car, bus, walker) => {
    const town = await square({}, { x: tags })
    const paths = ['auto', 'bus', 'pedestrian'].map((costing) => town.route('DE', { costing }).path)
    expect(paths).toEqual([car, bus, walker])
  })
})

it('a way for rescue services is for no motor vehicle without a tag of its own (OSRM car profile)', async () => {
  const tags = { highway: 'service', service: 'emergency_access' }
  const closed = await square(tags)
  expect(closed.route('DE').path).toBe(LONG)
  const opened = await square({ ...tags, motor_vehicle: 'yes' })
  expect(opened.route('DE').path).toBe(SHORT)
})

it.each([
  [{ maxheight: '3.5 metres' }, { height: 3.5 }, { height: 3.6 }],
  [{ maxheight: "11'6" }, { height: 3.5 }, { height: 3.6 }],
  [{ maxweight: '8 st' }, { weight: 7.2 }, { weight: 7.3 }],
  [{ maxweight: '15000 lbs' }, { weight: 6.8 }, { weight: 6.9 }],
  [{ maxlength: '10 metre' }, { length: 10 }, { length: 11 }],
  [{ maxgcweight: '12' }, { weight: 12 }, { weight: 13 }],
  [{ maxbogieweight: '10' }, { axle_load: 5 }, { axle_load: 5.1 }],
])('%j keeps out lorries that are larger (wiki, Key:maxheight, Key:maxweight)', async (tags, fits, breaks) => {
  const town = await square(tags)
  const path = (options: object): string =>
    town.route('DE', { costing: 'truck', costing_options: { truck: options } }).path
  expect([path(fits), path(breaks)]).toEqual([SHORT, LONG])
})

it('what stands on a node lets pass what fits (wiki, Tag:barrier=height_restrictor)', async () => {
  const town = await square({}, { x: { barrier: 'height_restrictor', maxheight: '2' } })
  const path = (costing: string, options: object = {}): string =>
    town.route('DE', { costing, costing_options: { [costing]: options } }).path
  expect([path('auto'), path('auto', { height: 2.1 }), path('truck'), path('bicycle')]).toEqual([
    SHORT,
    LONG,
    LONG,
    SHORT,
  ])
})

it('a gate that is closed by night is passed by day (wiki, Conditional restrictions)', async () => {
  const town = await square({}, { x: { barrier: 'lift_gate', 'motor_vehicle:conditional': 'no @ (22:00-06:00)' } })
  const at = (time: string, costing: string): string =>
    town.route('DE', {
      costing,
      date_time: { type: 1, value: `2026-11-23T${time}` },
      costing_options: { [costing]: { gate_cost: 0, gate_penalty: 0 } },
    }).path
  expect([at('23:00', 'auto'), at('23:00', 'bicycle'), at('12:00', 'auto')]).toEqual([LONG, SHORT, SHORT])
})
