import { describe, expect, it } from 'vitest'

import { unreadTags } from '../src/build/tags/unread.ts'
import { nodeFacts } from '../src/build/tags/node.ts'
import { relationFacts } from '../src/build/tags/relation.ts'
import { MODES } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { straight, type Tags } from './support/straight.ts'

const but = (...modes: string[]) => MODES.filter((mode) => !modes.includes(mode))
const tagsOf = (tags: Tags): ReadonlyMap<string, string> => new Map(Object.entries(tags))

// Source: OpenStreetMap wiki, Lanes: the limit of a lane is its own, so a large vehicle takes another one.
describe('a limit of every lane', () => {
  it.each<[Tags, string[]]>([
    [{ 'maxheight:lanes': '3|3.5' }, but('truck')],
    [{ 'maxheight:lanes': '3|4.5' }, [...MODES]],
    [{ 'maxheight:lanes': '3|' }, [...MODES]],
    [{ 'maxweight:lanes': '7.5|7.5' }, but('truck')],
    [{ 'maxwidth:lanes:forward': '2|2' }, but('truck')],
    [{ 'maxwidth:lanes:backward': '2|2' }, [...MODES]],
  ])('%j is passed by %j', async (street, want) => {
    expect((await straight({ street })).toSorted()).toEqual(want.toSorted())
  })
})

// Source: OpenStreetMap wiki, Key:maxweight, Key:access.
it.each<[Tags, string[]]>([
  [{ barrier: 'entrance', 'maxweight:hgv': '3.5' }, but('truck')],
  [{ barrier: 'entrance', 'maxheight:bus': '1.5' }, but('bus')],
  [{ barrier: 'entrance', maxweight: '3.5', 'maxweight:bus': '20' }, but('truck')],
  [{ access: 'private' }, []],
  [{ barrier: 'entrance', access: 'private', foot: 'yes' }, ['pedestrian']],
  [{ highway: 'crossing', motor_vehicle: 'private' }, ['bicycle', 'pedestrian']],
  [{ amenity: 'parking', access: 'customers' }, [...MODES]],
])('a node with %j is passed by %j', async (gate, want) => {
  expect((await straight({ gate })).toSorted()).toEqual(want.toSorted())
})

it.each([
  [{ motor_vehicle: 'no', hov: 'designated' }, true, ['auto']],
  [{ motor_vehicle: 'no', hov: 'designated' }, false, []],
  [{ motorcar: 'no', hov: 'designated' }, true, []],
])('%j is open to a car with enough people (%j): %j', async (street, isFull, want) => {
  expect(await straight({ street }, { modes: ['auto'], options: { include_hov3: isFull } })).toEqual(want)
})

// Source: OpenStreetMap wiki, Key:bicycle: riders who dismount may pass, and other hours are not mentioned.
it.each(['12:00', '23:00'])('bicycle:conditional=dismount @ (10:00-18:00) closes no street at %s', async (time) => {
  const street = { 'bicycle:conditional': 'dismount @ (10:00-18:00)' }
  expect(await straight({ street }, { modes: ['bicycle'], time: `2026-06-03T${time}` })).toEqual(['bicycle'])
})

// Source: OpenStreetMap wiki, Key:access.
it.each([
  ['private', 'ABEFCD'],
  ['customers', 'ABCD'],
])('a ferry with access=%s', async (access, path) => {
  const street = { highway: 'residential' }
  const town = await drawTown({
    map: `
      A--B--C--D
         |  |
         E--F
    `,
    meters: 40,
    ways: {
      AB: street,
      BC: { route: 'ferry', duration: '00:01', access },
      CD: street,
      BE: street,
      EF: street,
      FC: street,
    },
  })
  expect(town.route('AD', { costing_options: { auto: { use_ferry: 1, ferry_cost: 0 } } }).path).toBe(path)
})

describe('tags without effect are told', () => {
  it.each<[Tags, string[]]>([
    [{ highway: 'residential', oneway: 'Yes' }, ['oneway=Yes']],
    [{ highway: 'residential', 'oneway:bicycle': 'maybe' }, ['oneway:bicycle=maybe']],
    [{ highway: 'residential', oneway: 'reversible' }, []],
    [{ route: 'ferry', foot: 'yes' }, ['foot=yes']],
    [{ route: 'ferry', bicycle: 'yes', motor_vehicle: 'yes' }, []],
    [{ route: 'ferry', foot: 'no' }, []],
    [
      { highway: 'residential', 'bicycle:conditional': 'dismount @ (10:00-18:00)' },
      ['bicycle:conditional=dismount @ (10:00-18:00)'],
    ],
  ])('of a way with %j: %j', (tags, want) => {
    expect(unreadTags(tagsOf(tags)).map(({ text }) => text)).toEqual(want)
  })

  it.each<[Tags, string[]]>([
    [{ barrier: 'gate', 'motor_vehicle:forward': 'no' }, ['motor_vehicle:forward=no']],
    [{ barrier: 'gate', 'motor_vehicle:forward': 'yes' }, []],
  ])('of a node with %j: %j', (tags, want) => {
    expect(nodeFacts(tagsOf(tags)).unread.map(({ text }) => text)).toEqual(want)
  })

  it.each<[string, string[]]>([
    ['destination', ['except=destination']],
    ['psv;delivery', ['except=delivery']],
    ['psv', []],
  ])('of a turn restriction with except=%s: %j', (except, want) => {
    const facts = relationFacts(tagsOf({ type: 'restriction', restriction: 'no_left_turn', except }))
    expect(facts.flatMap((fact) => (fact.kind === 'unread' ? [fact.text] : []))).toEqual(want)
  })
})
