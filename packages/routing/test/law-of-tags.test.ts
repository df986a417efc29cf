import { describe, expect, it } from 'vitest'

import { unreadTags } from '../src/build/tags/unread.ts'
import { MODES } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { road, straight, type Tags, WITH_WHEELCHAIRS } from './support/straight.ts'

// Expected values from the OpenStreetMap wiki, by the page that is named.
const WALKERS = ['pedestrian', 'wheelchair']
const MOTORS = MODES.filter((mode) => mode !== 'bicycle' && mode !== 'pedestrian')
const noon = '2026-06-03T12:00'
const saturday = '2026-06-06T12:00'
const night = '2026-06-03T23:00'
const sorted = (modes: readonly string[]): string[] => modes.toSorted()

const PLACES = { FR: { lon: 2.3, lat: 47 }, NL: { lon: 5.5, lat: 52.2 }, SE: { lon: 15, lat: 59.5 } }

describe('countries', () => {
  it.each<[keyof typeof PLACES, Tags, string, string[]]>([
    ['FR', { highway: 'pedestrian' }, noon, ['bicycle', 'pedestrian']],
    ['FR', { highway: 'pedestrian', 'bicycle:conditional': 'no @ (10:00-19:00)' }, noon, ['pedestrian']],
    ['FR', { highway: 'pedestrian', 'bicycle:conditional': 'no @ (10:00-19:00)' }, night, ['bicycle', 'pedestrian']],
    ['FR', { highway: 'pedestrian', 'vehicle:conditional': 'no @ (10:00-19:00)' }, noon, ['pedestrian']],
    ['NL', { highway: 'cycleway', 'foot:conditional': 'no @ (10:00-19:00)' }, noon, ['bicycle']],
    ['SE', { highway: 'cycleway', 'access:forward': 'no' }, noon, []],
    ['FR', { highway: 'pedestrian', 'vehicle:forward': 'no' }, noon, ['pedestrian']],
    ['NL', { highway: 'cycleway', oneway: 'yes' }, noon, ['bicycle', 'pedestrian', 'wheelchair']],
  ])('%s: %j at %s is passed by %j', async (country, street, time, want) => {
    const origin = PLACES[country]
    const modes = street.oneway === 'yes' ? WITH_WHEELCHAIRS : MODES
    expect(sorted(await straight({ street, origin }, { time, modes }))).toEqual(sorted(want))
  })

  it('walkers and wheelchairs go both ways on a one-way cycleway (Netherlands)', async () => {
    const street = { highway: 'cycleway', oneway: 'yes' }
    expect(await straight({ street, origin: PLACES.NL }, { path: 'DA', modes: WITH_WHEELCHAIRS })).toEqual(WALKERS)
  })
})

describe('hours (Conditional restrictions)', () => {
  it('close a street to wheelchairs as to walkers', async () => {
    const street = { 'access:conditional': 'no @ (10:00-19:00)' }
    expect(await straight({ street }, { time: noon, modes: WITH_WHEELCHAIRS })).toEqual([])
    expect(await straight({ street }, { time: night, modes: WALKERS })).toEqual(WALKERS)
  })

  it.each<[Tags, string[]]>([
    [{ access: 'private', 'access:conditional': 'yes @ (Sa)' }, WITH_WHEELCHAIRS as string[]],
    [{ access: 'destination', 'foot:conditional': 'yes @ (Sa)' }, WALKERS],
    [{ vehicle: 'private', 'vehicle:conditional': 'yes @ (Sa)' }, WITH_WHEELCHAIRS as string[]],
  ])('open what is for local traffic otherwise: %j to %j', async (street, want) => {
    const passing = (time?: string): Promise<string[]> =>
      straight({ street, meters: 3000 }, { time, modes: WITH_WHEELCHAIRS })
    expect(sorted(await passing(saturday))).toEqual(sorted(want))
    const usual = street.vehicle === 'private' ? WALKERS : []
    expect(await passing(noon)).toEqual(usual)
    expect(await passing()).toEqual(usual)
  })

  it.each<[Tags, string, string[]]>([
    // Another key for a mode counts by its meaning and in its direction.
    [{ mofa: 'yes', 'motor_vehicle:conditional': 'no @ (10:00-19:00)' }, 'AD', ['bicycle', 'pedestrian']],
    [
      { 'bus:forward': 'yes', 'motor_vehicle:conditional': 'no @ (10:00-19:00)' },
      'AD',
      ['bicycle', 'bus', 'pedestrian'],
    ],
    [{ bicycle_road: 'yes', 'vehicle:conditional': 'no @ (10:00-19:00)' }, 'AD', ['bicycle', 'pedestrian']],
    // A general access tag opens no footway to cars.
    [{ highway: 'footway', 'access:conditional': 'yes @ (10:00-19:00)' }, 'AD', ['pedestrian']],
    // An exception for local traffic opens nothing that is closed at all hours.
    [
      { 'bus:forward': 'no', 'bus:conditional': 'no @ (10:00-19:00); private @ (destination)' },
      'AD',
      MODES.filter((mode) => mode !== 'bus'),
    ],
    // The values of a key are its own in conditions too.
    [{ 'bicycle:conditional': 'none @ (10:00-19:00)' }, 'AD', [...MOTORS, 'pedestrian']],
    [{ 'hgv:conditional': 'local @ (10:00-19:00)', hgv: 'no' }, 'AD', [...MODES]],
    // A key of one mode opens the direction against the traffic.
    [{ oneway: 'yes', 'bicycle:backward:conditional': 'yes @ (10:00-19:00)' }, 'DA', ['bicycle', 'pedestrian']],
  ])('%j along %s at noon is passed by %j', async (street, path, want) => {
    expect(sorted(await straight({ street }, { path, time: noon }))).toEqual(sorted(want))
  })

  it.each<[Tags, string]>([
    [{ access: 'yes', 'hgv:conditional': 'yes @ (weight<7.5)' }, 'hgv:conditional=yes @ (weight<7.5)'],
    [{ 'mofa:conditional': 'yes @ (20:00-06:00)' }, 'mofa:conditional=yes @ (20:00-06:00)'],
  ])('what changes nothing is warned of: %j', async (street, tag) => {
    const town = await drawTown({ map: 'A---B---C', meters: 40, ways: { AB: road, BC: { ...road, ...street } } })
    for (const [path, costing] of [
      ['AC', 'truck'],
      ['CA', 'bicycle'],
      ['AC', 'motor_scooter'],
    ] as const) {
      const texts = town.route(path, { costing }).trip.warnings?.map(({ text }) => text) ?? []
      if (texts.some((text) => text.includes(tag))) return
    }
    expect.unreachable(tag)
  })

  it('a key for several modes opens nothing against the traffic, and is listed as not read', () => {
    const key = 'vehicle:backward:conditional'
    const tags = new Map([...Object.entries({ ...road, oneway: 'yes' }), [key, 'yes @ (20:00-06:00)']])
    expect(unreadTags(tags).map(({ text }) => text)).toEqual([`${key}=yes @ (20:00-06:00)`])
  })

  it('a size that is let in closes nothing that another key or case opens', async () => {
    const street = { access: 'yes', 'hgv:conditional': 'yes @ (weight<7.5)' }
    expect(await straight({ street })).toContain('truck')
  })
})

it('a gate that is closed to walkers is so to wheelchairs', async () => {
  const gate = { barrier: 'gate', foot: 'no' }
  expect(await straight({ gate }, { modes: WITH_WHEELCHAIRS })).toEqual(MODES.filter((mode) => mode !== 'pedestrian'))
})

describe('values and directions (Key:access, Key:oneway)', () => {
  it.each<[Tags, string, string[]]>([
    [{ bicycle: 'discouraged', foot: 'discouraged' }, 'AD', [...MODES]],
    [{ hgv: 'discouraged' }, 'AD', MODES.filter((mode) => mode !== 'truck')],
    [{ access: 'no', 'access:forward': 'yes' }, 'AD', [...MODES]],
    [{ access: 'no', 'access:forward': 'yes' }, 'DA', []],
    [{ oneway: 'yes', 'bicycle:backward': 'designated' }, 'DA', ['bicycle', 'pedestrian']],
    [{ oneway: 'yes', 'bicycle:backward': 'use_sidepath' }, 'DA', ['bicycle', 'pedestrian']],
    [{ oneway: 'yes', 'bicycle:backward': 'no' }, 'DA', ['pedestrian']],
    [{ oneway: 'yes', 'hgv:backward': 'permissive', 'motorcar:backward': 'yes' }, 'DA', ['pedestrian']],
    [{ oneway: 'yes', 'motorcycle:backward': 'permissive' }, 'DA', ['motorcycle', 'pedestrian']],
    [{ oneway: 'yes', 'psv:backward': 'yes' }, 'DA', ['bus', 'taxi', 'pedestrian']],
    [{ oneway: 'yes', 'psv:backward': 'yes', 'bus:backward': 'no' }, 'DA', ['taxi', 'pedestrian']],
    [{ oneway: '1', 'oneway:bicycle': 'no' }, 'DA', ['bicycle', 'pedestrian']],
    [{ oneway: '-1', 'oneway:bicycle': 'no' }, 'AD', ['bicycle', 'pedestrian']],
    [{ junction: 'roundabout', 'oneway:bicycle': 'no' }, 'DA', ['bicycle', 'pedestrian']],
    [{ oneway: '-1', 'oneway:foot': 'yes' }, 'AD', []],
    [{ oneway: '-1', 'oneway:foot': 'yes' }, 'DA', [...MODES]],
  ])('%j along %s is passed by %j', async (street, path, want) => {
    expect(sorted(await straight({ street }, { path }))).toEqual(sorted(want))
  })
})

describe('lanes (Key:lanes, Key:busway, Key:cycleway)', () => {
  it.each<[Tags, string, string[]]>([
    [{ oneway: '-1', 'lanes:bus': '1' }, 'AD', ['pedestrian']],
    [{ oneway: 'yes', 'lanes:psv': '2' }, 'DA', ['pedestrian']],
    [{ 'lanes:psv': '1' }, 'DA', [...MODES]],
    [{ motor_vehicle: 'no', 'lanes:psv': '2' }, 'DA', ['bicycle', 'bus', 'pedestrian', 'taxi']],
    [{ bus: 'no', 'lanes:bus': '2' }, 'AD', MODES.filter((mode) => mode !== 'bus')],
    [{ bus: 'no', busway: 'lane' }, 'AD', MODES.filter((mode) => mode !== 'bus')],
    [{ bicycle: 'no', 'cycleway:both': 'lane' }, 'AD', [...MOTORS, 'pedestrian']],
  ])('%j along %s is passed by %j', async (street, path, want) => {
    expect(sorted(await straight({ street }, { path }))).toEqual(sorted(want))
  })
})
