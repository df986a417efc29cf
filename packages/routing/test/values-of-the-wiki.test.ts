import { describe, expect, it } from 'vitest'

import { nodeUnread, unreadTags } from '../src/build/tags/unread.ts'
import { MODES } from '../src/index.ts'
import { straight, type Tags } from './support/straight.ts'

// Expected values from the OpenStreetMap wiki, by the page that is named.
const without = (...modes: string[]): string[] => MODES.filter((mode) => !modes.includes(mode))
const sorted = (modes: readonly string[]): string[] => modes.toSorted()
const noon = '2026-06-03T12:00'
const night = '2026-06-03T23:00'
const SLOW = ['bicycle', 'pedestrian']

describe('access of a way (Key:access)', () => {
  it.each<[Tags, readonly string[]]>([
    [{ motor_vehicle: 'private', access: 'yes' }, SLOW],
    [{ hgv: 'designated', motor_vehicle: 'no' }, ['truck', ...SLOW]],
    [{ psv: 'designated', motor_vehicle: 'no' }, ['bus', 'taxi', ...SLOW]],
    [{ vehicle: 'no', bicycle: 'yes' }, SLOW],
    [{ foot: 'use_sidepath', bicycle: 'use_sidepath' }, MODES],
    [{ highway: 'footway', bicycle: 'dismount' }, SLOW],
    [{ highway: 'path', segregated: 'yes', foot: 'designated', bicycle: 'designated' }, SLOW],
    [{ access: 'delivery' }, []],
    [{ access: 'agricultural;forestry' }, []],
    [{ access: 'foot' }, ['pedestrian']],
    [{ vehicle: 'hgv' }, ['truck', 'pedestrian']],
    [{ motor_vehicle: 'motorcycle' }, ['motorcycle', ...SLOW]],
    [{ motor_vehicle: 'minibus' }, SLOW],
    [{ access: 'restricted', foot: 'yes' }, ['pedestrian']],
    [{ access: 'no', cycleway: 'track' }, []],
    [{ vehicle: 'no', 'cycleway:right': 'lane' }, SLOW],
  ])('%j is passed by %j', async (street, want) => {
    expect(sorted(await straight({ street }))).toEqual(sorted(want))
  })
})

describe('one-way streets of a group of vehicles, by the most specific key of each (Key:oneway)', () => {
  it.each<[Tags, string, readonly string[]]>([
    [{ oneway: 'yes', 'oneway:bus': 'no' }, 'DA', ['bus', 'pedestrian']],
    [{ oneway: 'yes', 'oneway:motor_vehicle': 'no' }, 'DA', without('bicycle')],
    [{ oneway: 'yes', 'oneway:vehicle': 'no', 'oneway:hgv': 'yes' }, 'DA', without('truck')],
    [{ 'oneway:vehicle': 'yes', 'oneway:motor_vehicle': 'no' }, 'DA', without('bicycle')],
    [{ 'oneway:motor_vehicle': '-1' }, 'AD', SLOW],
    [{ oneway: 'reverse' }, 'AD', ['pedestrian']],
  ])('%j along %s is passed by %j', async (street, path, want) => {
    expect(sorted(await straight({ street }, { path }))).toEqual(sorted(want))
  })

  it.each([
    ['2026-06-03T07:00', SLOW],
    [noon, MODES],
  ])('at certain hours, at %s', async (time, want) => {
    const street = { 'oneway:motor_vehicle:conditional': 'yes @ (Mo-Fr 06:00-09:00)' }
    expect(sorted(await straight({ street }, { path: 'DA', time }))).toEqual(sorted(want))
  })
})

describe('sizes, goods and hours (Key:maxheight, Key:hazmat, Conditional restrictions)', () => {
  it.each([
    [noon, []],
    [night, ['truck']],
  ])('a size that counts at certain hours, at %s', async (time, want) => {
    const street = { 'hgv:conditional': 'no @ (weight>7.5 AND 06:00-20:00)' }
    expect(await straight({ street }, { time, modes: ['truck'] })).toEqual(want)
  })

  it.each([
    [noon, ['pedestrian']],
    [night, SLOW],
  ])('a pedestrian street that riders may use at certain hours, at %s', async (time, want) => {
    const street = { highway: 'pedestrian', 'bicycle:conditional': 'yes @ (19:00-10:00)' }
    expect(sorted(await straight({ street }, { time }))).toEqual(want)
  })

  it('dangerous goods go around a street that is closed to them', async () => {
    const street = { hazmat: 'no' }
    expect(await straight({ street }, { modes: ['truck'], options: { hazmat: true } })).toEqual([])
    expect(await straight({ street }, { modes: ['truck'] })).toEqual(['truck'])
  })

  it('a height on a node without a barrier, as under a beam or at the entrance of a car park', async () => {
    expect(await straight({ gate: { maxheight: '3.5' } })).toEqual(without('truck'))
  })
})

describe('barriers (Key:barrier)', () => {
  it.each<[Tags, readonly string[]]>([
    [{ barrier: 'gate', access: 'no', motorcar: 'yes' }, ['auto']],
    [{ barrier: 'planter' }, SLOW],
    [{ barrier: 'rope' }, SLOW],
    [{ barrier: 'tank_trap' }, SLOW],
    [{ barrier: 'wicket_gate' }, SLOW],
    [{ barrier: 'kerb' }, MODES],
    [{ barrier: 'kerb', kerb: 'raised' }, MODES],
    [{ barrier: 'kerb', motor_vehicle: 'no' }, SLOW],
    [{ barrier: 'fence', sensory: 'audible' }, MODES],
  ])('%j is passed by %j', async (gate, want) => {
    expect(sorted(await straight({ gate }))).toEqual(sorted(want))
  })
})

describe('what is not read is said in the warnings of a route', () => {
  const said = (tags: Tags): string[] => unreadTags(new Map(Object.entries(tags))).map(({ text }) => text)

  it.each<[Tags, string[]]>([
    [{ highway: 'winter_road' }, ['highway=winter_road']],
    [{ highway: 'tertiary', ice_road: 'yes', seasonal: 'winter' }, ['ice_road=yes', 'seasonal=winter']],
    [{ highway: 'tertiary', seasonal: 'no', tidal: 'yes' }, ['tidal=yes']],
    [{ highway: 'tertiary', hgv_articulated: 'no', coach: 'no' }, ['hgv_articulated=no', 'coach=no']],
    [{ highway: 'tertiary', abandoned: 'yes' }, ['abandoned=yes']],
    [{ highway: 'tertiary', disused: 'no', 'disused:highway': 'primary' }, ['disused:highway=primary']],
    [{ highway: 'tertiary', construction: 'yes' }, ['construction=yes']],
    [{ highway: 'tertiary', 'temporary:access': 'no', 'temporary:hgv': 'yes' }, ['temporary:access=no']],
    [{ highway: 'service', 'psv:lanes': 'designated|designated' }, ['psv:lanes=designated|designated']],
    [{ highway: 'tertiary', 'psv:lanes': '|designated' }, []],
    [{ highway: 'track', ford: 'yes' }, ['ford=yes']],
    [{ highway: 'track', ford: 'no', winter_service: 'no' }, ['winter_service=no']],
    [{ highway: 'tertiary', low_emission_zone: 'yes' }, ['low_emission_zone=yes']],
  ])('%j: %j', (tags, want) => expect(said(tags)).toEqual(want))

  it('an unknown barrier, unless an access tag says who passes', () => {
    const unread = (tags: Tags): string[] => nodeUnread(new Map(Object.entries(tags))).map(({ text }) => text)
    expect(unread({ barrier: 'moat' })).toEqual(['barrier=moat'])
    expect(unread({ barrier: 'moat', access: 'yes' })).toEqual([])
    expect(unread({ barrier: 'cattle_grid' })).toEqual([])
  })
})
