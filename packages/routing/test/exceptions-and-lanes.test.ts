import { describe, expect, it } from 'vitest'

import { factsOf } from '../src/index.ts'
import { type AsciiTown, drawTown } from './support/ascii-map.ts'

type Tags = Readonly<Record<string, string>>

const street = (name: string) => ({ highway: 'residential', name })

/** Two ways around from D to E: the short one over AB, which is tagged, and the long one over F and C. */
const square = (tags: Tags, nodes: Readonly<Record<string, Tags>> = {}): Promise<AsciiTown> =>
  drawTown({
    map: 'A-1x--B-2---E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C',
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

const way = (town: AsciiTown, costing = 'auto', options: object = {}, ends = 'DE'): string =>
  town.route(ends, { costing, costing_options: { [costing]: options } }).path
const at = (time: string) => ({ date_time: { type: 1, value: `2026-11-23T${time}` } })

describe('what a condition opens (wiki, Conditional restrictions)', () => {
  it.each([
    [{ hgv: 'no', 'hgv:conditional': 'yes @ (weight<7.5)' }, { weight: 7.4 }, { weight: 7.5 }],
    [{ hgv: 'no', 'hgv:conditional': 'yes @ (weight<=7.5)' }, { weight: 7.5 }, { weight: 7.6 }],
    [{ 'hgv:conditional': 'yes @ (weight<=7.5)' }, { weight: 7.5 }, { weight: 7.6 }],
    [{ motor_vehicle: 'no', 'hgv:conditional': 'yes @ (length<=8)' }, { length: 8 }, { length: 9 }],
    [
      { hgv: 'no', 'hgv:conditional': 'yes @ (weight<=7.5 AND length<=8)' },
      { weight: 7, length: 8 },
      { weight: 7, length: 9 },
    ],
  ])('%j is a limit of size', async (tags, fits, breaks) => {
    const town = await square(tags)
    expect([way(town, 'truck', fits), way(town, 'truck', breaks)]).toEqual([SHORT, LONG])
    expect(way(town, 'bicycle')).toBe(SHORT)
    const gate = await square({}, { x: { barrier: 'entrance', ...tags } })
    expect([way(gate, 'truck', fits), way(gate, 'truck', breaks)]).toEqual([SHORT, LONG])
  })

  it('says nothing where the key opens anyway', async () => {
    expect(way(await square({ hgv: 'yes', 'hgv:conditional': 'yes @ (weight<7.5)' }), 'truck')).toBe(SHORT)
  })

  it.each(['yes @ delivery', 'yes @ (destination)', 'destination @ residents'])(
    'motor_vehicle=no with %s is no way through, but leads to its houses',
    async (text) => {
      const town = await square({ motor_vehicle: 'no', 'motor_vehicle:conditional': text })
      expect(way(town)).toBe(LONG)
      expect(town.route('D1').path).toBe('DA1')
      expect(town.route('DE').trip.warnings).toBeUndefined()
    },
  )

  it('leads at closed hours to the houses of excepted residents', async () => {
    const town = await square({ 'motor_vehicle:conditional': 'no @ (22:00-05:00); yes @ residents' })
    expect(town.route('DE', at('23:00')).path).toBe(LONG)
    expect(town.route('D1', at('23:00')).path).toBe('DA1')
    expect(town.route('DE', at('12:00')).path).toBe(SHORT)
  })
})

describe('gates with sizes and hours (wiki, Conditional restrictions, Key:opening_hours)', () => {
  it('keep out what a condition names', async () => {
    const town = await square({}, { x: { barrier: 'entrance', 'hgv:conditional': 'no @ (weight>7.5)' } })
    expect([way(town, 'truck', { weight: 7.5 }), way(town, 'truck'), way(town)]).toEqual([SHORT, LONG, SHORT])
  })

  it.each([
    [{ opening_hours: 'Mo-Fr 07:00-19:00' }],
    [{ 'access:conditional': 'yes @ (07:00-19:00)' }],
    [{ 'access:conditional': 'yes @ (07:00-12:30); yes @ (11:00-19:00)' }],
  ])('%j is closed otherwise', async (tags: Tags) => {
    const town = await square({}, { x: { barrier: 'entrance', ...tags } })
    for (const costing of ['auto', 'pedestrian']) {
      const paths = ['12:00', '20:00', '06:30'].map((time) => town.route('DE', { costing, ...at(time) }).path)
      expect(paths).toEqual([SHORT, LONG, LONG])
    }
    expect(town.route('DE').path).toBe(SHORT)
  })

  it.each<[Tags, string[], string[]]>([
    [{ access: 'no', opening_hours: '07:00-19:00' }, ['auto', 'bicycle', 'pedestrian'], []],
    [{ access: 'no', 'access:conditional': 'yes @ (07:00-19:00)' }, ['auto', 'bicycle', 'pedestrian'], []],
    [{ access: 'no', 'foot:conditional': 'yes @ (07:00-19:00)' }, ['pedestrian'], []],
    [{ access: 'no', foot: 'yes', 'access:conditional': 'yes @ (07:00-19:00)' }, ['auto', 'bicycle'], ['pedestrian']],
    [
      { access: 'no', 'access:conditional': 'yes @ (11:00-19:00)', 'foot:conditional': 'yes @ (07:00-22:00)' },
      ['auto', 'bicycle', 'pedestrian'],
      [],
    ],
    [{ motor_vehicle: 'no', opening_hours: '07:00-19:00' }, ['bicycle', 'pedestrian'], []],
    [{ access: 'agricultural', opening_hours: '07:00-19:00' }, [], []],
    [{ access: 'no', opening_hours: '20:00-22:00', 'access:conditional': 'yes @ (07:00-19:00)' }, [], []],
    [{ barrier: 'kissing_gate', access: 'no', opening_hours: '07:00-19:00' }, ['bicycle', 'pedestrian'], []],
  ])('a gate with %j lets %j pass in its hours, and %j always', async (tags, timed, always) => {
    const town = await square({}, { x: { barrier: 'gate', ...tags } })
    const modes = ['auto', 'bicycle', 'pedestrian']
    const passing = (time?: string): string[] =>
      modes.filter((costing) => town.route('DE', { costing, ...(time === undefined ? {} : at(time)) }).path === SHORT)
    expect(passing('12:00').toSorted()).toEqual([...timed, ...always].toSorted())
    expect(passing('23:00')).toEqual(always)
    const opensOnlyInHours = tags.access === 'no'
    expect(passing().toSorted()).toEqual(opensOnlyInHours ? always : timed)
  })

  it('a gate for destinations in its hours is no way through', async () => {
    const town = await square(
      {},
      { x: { barrier: 'gate', access: 'no', 'access:conditional': 'destination @ (07:00-19:00)' } },
    )
    expect(town.route('DE', at('12:00')).path).toBe(LONG)
  })

  it('are open whenever the staff of a toll booth comes', async () => {
    const town = await square({}, { x: { barrier: 'toll_booth', opening_hours: '07:00-19:00' } })
    expect(town.route('DE', { ...at('20:00'), costing_options: { auto: { use_tolls: 1 } } }).path).toBe(SHORT)
  })
})

describe('a barrier without further tags (OSRM profiles, barrier_blacklist)', () => {
  it.each([
    [{ barrier: 'yes' }, LONG, LONG, LONG],
    [{ barrier: 'yes', access: 'yes' }, SHORT, SHORT, SHORT],
    [{ barrier: 'yes', foot: 'yes', bicycle: 'yes' }, LONG, SHORT, SHORT],
  ])('%j', async (tags, car, rider, walker) => {
    const town = await square({}, { x: tags })
    expect(['auto', 'bicycle', 'pedestrian'].map((costing) => way(town, costing))).toEqual([car, rider, walker])
  })
})

describe('lanes with access of their own (wiki, Lanes, Key:hov)', () => {
  it('a street whose lanes are for buses is one for buses', async () => {
    const town = await square({ lanes: '2', 'vehicle:lanes': 'no|no', 'bus:lanes': 'designated|designated' })
    const paths = ['auto', 'truck', 'taxi', 'bicycle', 'bus', 'pedestrian'].map((costing) => way(town, costing))
    expect(paths).toEqual([LONG, LONG, LONG, LONG, SHORT, SHORT])
  })

  it.each([
    [{ 'vehicle:lanes': 'no|yes' }, SHORT, BACK],
    [{ 'motor_vehicle:lanes': 'destination|no' }, LONG, AROUND],
    [{ 'vehicle:lanes:forward': 'private|destination' }, LONG, BACK],
    [{ 'vehicle:lanes': 'destination|yes' }, SHORT, BACK],
    [{ 'vehicle:lanes': 'destination|destination', motorcar: 'yes' }, SHORT, BACK],
    [{ 'motor_vehicle:lanes': 'no|' }, SHORT, BACK],
    [{ 'motor_vehicle:lanes': 'bus|bus' }, LONG, AROUND],
    [{ 'vehicle:lanes:forward': 'no' }, LONG, BACK],
    [{ 'access:lanes:backward': 'no|no' }, SHORT, AROUND],
    [{ 'access:lanes': 'no|yes', 'vehicle:lanes': '|no' }, LONG, AROUND],
    [{ 'hov:forward': 'designated', 'hov:minimum': '2' }, LONG, BACK],
    [{ 'hov:lanes:forward': 'designated|designated', 'hov:minimum': '2' }, LONG, BACK],
    [{ 'hov:lanes:backward': 'designated', 'hov:minimum': '2' }, SHORT, AROUND],
    [{ 'hov:lanes:forward': 'designated|', 'hov:minimum': '2' }, SHORT, BACK],
  ])('%j', async (tags: Tags, there, back) => {
    const town = await square(tags)
    expect([way(town), way(town, 'auto', {}, 'ED')]).toEqual([there, back])
    if ('hov:minimum' in tags) expect(way(town, 'auto', { include_hov2: true })).toBe(SHORT)
  })
})

describe('light and heavy goods vehicles (wiki, Key:access, transport mode hierarchy)', () => {
  it.each([
    [{ goods: 'no' }, LONG, LONG],
    [{ goods: 'no', hgv: 'yes' }, SHORT, SHORT],
    [{ motor_vehicle: 'no', goods: 'yes' }, SHORT, LONG],
    [{ motor_vehicle: 'no', goods: 'yes', hgv: 'yes' }, SHORT, SHORT],
  ])('%j', async (tags: Tags, light, heavy) => {
    const town = await square(tags)
    expect([way(town, 'truck', { weight: 3.5 }), way(town, 'truck', { weight: 7 })]).toEqual([light, heavy])
  })
})

describe('conditions that are not read', () => {
  const warned = (town: AsciiTown, costing = 'auto', ends = 'DE') =>
    town.route(ends, { costing }).trip.warnings?.map(({ code, text }) => `${code} ${text}`)
  const NOTE = ': not understood in full, the route may not keep it'

  it.each([
    { 'motor_vehicle:conditional': 'no @ (sunset-sunrise)' },
    { 'access:conditional': 'no @ (Su,PH 10:00-18:00)' },
    { 'motor_vehicle:conditional': 'no @ snow' },
    { 'maxweight:conditional': 'none @ (Mo-Fr 10:00-15:00)' },
    { 'access:conditional': 'no @ (week 1-53/2)' },
    { 'access:conditional': 'no @ (2020-2030/2)' },
    { 'oneway:conditional': 'yes @ (dawn-dusk)' },
    { 'maxspeed:conditional': '60 @ wet' },
    { 'oneway:motor_vehicle:conditional': 'yes @ (sunset-sunrise)' },
    { 'maxspeed:bus:conditional': '60 @ (22:00-06:00)' },
    { 'toll:conditional': 'yes @ (weight>3.5)' },
    { 'hov:lanes:conditional': 'designated|designated @ (Mo-Fr 06:00-09:00)' },
  ])('%j is told to who drives there, and counted', async (tags: Tags) => {
    const town = await square({ maxweight: '3', ...tags })
    const [[key, text] = []] = Object.entries(tags)
    const [value, condition] = text!.split(/ @ /)
    const tag = `${key}=${value} @ (${condition!.replaceAll(/[()]/g, '')})`
    expect(warned(town)).toEqual([`904 "${tag}"${NOTE}`])
    expect(warned(town, 'auto', '2E')).toBeUndefined()
    expect(factsOf(town.network).unread).toEqual([{ tag, count: 1 }])
  })

  it('is told of the hours that a way says to be open in', async () => {
    const town = await square({ opening_hours: 'Mo-Fr 07:00-19:00' })
    expect([warned(town), warned(town, 'pedestrian')]).toEqual(
      Array.from({ length: 2 }, () => [`904 "opening_hours=Mo-Fr 07:00-19:00"${NOTE}`]),
    )
    expect(warned(await square({ opening_hours: '24/7' }))).toBeUndefined()
  })

  it.each([
    ['motor_vehicle', 'resident_only'],
    ['vehicle', 'yes;by_appointment'],
    ['access', 'staff'],
  ])('is told of a value that no table knows: %s=%s', async (key, value) => {
    const town = await square({ [key]: value })
    expect(warned(town)).toEqual([`904 "${key}=${value}"${NOTE}`])
    expect(warned(town, 'auto', '2E')).toBeUndefined()
    expect(factsOf(town.network).unread).toEqual([{ tag: `${key}=${value}`, count: 1 }])
    // A key of its own goes before the general one.
    expect(warned(await square({ [key]: value, motorcar: 'yes' }))).toBeUndefined()
    expect(warned(await square({ [key]: 'unknown' }))).toBeUndefined()
  })

  it('is told of such a value on a barrier to who passes', async () => {
    const gate = await square({}, { x: { barrier: 'entrance', access: 'members' } })
    expect(warned(gate)).toEqual([`904 "access=members"${NOTE}`])
    expect(warned(gate, 'auto', 'D1')).toBeUndefined()
  })

  it.each(['x', 'B'])('warns about a ford on node %s, which cuts no way', async (node) => {
    const sizeOf = ({ network }: AsciiTown): unknown => {
      const { nodes, edges } = factsOf(network)
      return { nodes, edges }
    }
    const town = await square({}, { [node]: { ford: 'stepping_stones' } })
    expect(warned(town)).toEqual([`904 "ford=stepping_stones"${NOTE}`])
    expect(warned(town, 'auto', 'DF')).toBeUndefined()
    expect(factsOf(town.network).unread).toEqual([{ tag: 'ford=stepping_stones', count: 1 }])
    expect(sizeOf(town)).toEqual(sizeOf(await square({})))
  })

  it('is told to the modes that it speaks of, in its direction', async () => {
    const lorries = await square({ 'hgv:forward:conditional': 'no @ (sunset-sunrise)' })
    expect([warned(lorries), warned(lorries, 'truck')?.length, warned(lorries, 'truck', 'ED')]).toEqual([
      undefined,
      1,
      undefined,
    ])
  })

  it('on gates and of turns is told to who passes', async () => {
    const gate = await square({}, { x: { barrier: 'entrance', opening_hours: 'sunrise-sunset' } })
    expect(warned(gate)).toEqual([`904 "opening_hours=sunrise-sunset"${NOTE}`])
    expect(warned(gate, 'auto', 'D1')).toBeUndefined()
    const turn = await drawTown({
      map: 'A--B--C\n   |\n   D',
      ways: { AB: street('a'), BC: street('b'), BD: street('d') },
      restrictions: [
        { from: 'AB', via: 'B', to: 'BD', tags: { 'restriction:conditional': 'no_right_turn @ (sunset-sunrise)' } },
      ],
    })
    expect(turn.route('AD').trip.warnings).toEqual([
      { code: 904, text: `"restriction:conditional=no_right_turn @ (sunset-sunrise)"${NOTE}` },
    ])
  })

  it('are none where every case is read', async () => {
    const town = await square({
      'motor_vehicle:conditional': 'no @ (2026 Nov 10-20); no @ (week 45-48); destination @ (Th[4] 10:00-12:00)',
      'hgv:conditional': 'no @ (weight>7.5); yes @ destination',
      'maxspeed:conditional': 'none @ (22:00-06:00)',
      maxweight: '3.5',
      'maxweight:conditional': 'none @ destination',
      'parking:lane:conditional': 'no @ (sunset-sunrise)',
    })
    expect([warned(town), factsOf(town.network).unread]).toEqual([undefined, []])
  })
})

describe('a limit that destinations are excepted from', () => {
  const tags = { maxlength: '10', 'maxlength:conditional': 'none @ destination' }
  const long = { length: 12 }

  it.each([
    ['B', 'DFCB'],
    ['2', 'DFCB2'],
    ['E', LONG],
    ['1', 'DA1'],
  ])('binds who goes just beyond, to %s', async (end, path) => {
    expect(way(await square(tags), 'truck', long, `D${end}`)).toBe(path)
  })
})
