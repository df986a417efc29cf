import { describe, expect, it } from 'vitest'

import { conditionalCases } from '../src/build/tags/conditional.ts'
import { type AsciiTown, drawTown } from './support/ascii-map.ts'

/** A straight road A to F whose stretch BC is tagged, with a detour over G and H. */
const road = (tags: Readonly<Record<string, string>>, highway = 'secondary'): Promise<AsciiTown> =>
  drawTown({
    map: `
      A---B--1--C--2--D---E---F
          |               |
          |               |
          G---------------H
    `,
    meters: 20,
    ways: {
      AB: { highway },
      BC: { highway, ...tags },
      CD: { highway, ...tags },
      DE: { highway },
      EF: { highway },
      BGHE: { highway: 'residential' },
    },
  })

const DIRECT = 'ABCDEF'
const AROUND = 'ABGHEF'
const truck = (options: Readonly<Record<string, unknown>> = {}) => ({
  costing: 'truck',
  costing_options: {
    truck: { height: 4, width: 2.5, length: 18, weight: 20, axle_load: 9, axle_count: 5, ...options },
  },
})

describe('a limit that the vehicle breaks is gone around', () => {
  it.each([
    [{ maxheight: '2' }, {}],
    [{ maxheight: '3.9 m' }, {}],
    [{ 'maxheight:physical': '3.9' }, {}],
    [{ maxheight: '4.5', 'maxheight:physical': '3.9' }, {}],
    [{ 'maxheight:hgv': '3.8' }, {}],
    [{ maxwidth: '2.4' }, {}],
    [{ maxlength: '17' }, {}],
    [{ maxweight: '7.5' }, {}],
    [{ 'maxweight:hgv': '7.5' }, {}],
    [{ maxweightrating: '7.5' }, {}],
    [{ 'maxweightrating:hgv': '7.5' }, {}],
    [{ maxaxleload: '8' }, {}],
    [{ 'maxaxleload:forward': '8' }, {}],
    [{ maxaxles: '4' }, {}],
    [{ hazmat: 'no' }, { hazmat: true }],
    [{ 'maxheight:forward': '3.9' }, {}],
  ])('%j', async (tags, options) => {
    const town = await road(tags)
    expect(town.route('AF', truck(options)).path).toBe(AROUND)
    expect(town.route('AF').path).toBe(DIRECT)
  })

  it('in its direction only', async () => {
    const town = await road({ 'maxheight:backward': '3.9', 'maxaxleload:backward': '8' })
    expect(town.route('AF', truck()).path).toBe(DIRECT)
    expect(town.route('FA', truck()).path).toBe('FEHGBA')
  })

  it('and one that it keeps is not', async () => {
    const town = await road({ maxheight: '4', maxweight: '20', maxaxles: '5', hazmat: 'no' })
    expect(town.route('AF', truck()).path).toBe(DIRECT)
  })

  it('by cars too, as far as height and width go', async () => {
    const low = await road({ maxheight: '1.5' })
    expect(low.route('AF').path).toBe(AROUND)
    expect(low.route('AF', { costing: 'bicycle' }).path).toBe(DIRECT)
    expect((await road({ 'maxheight:hgv': '1.5' })).route('AF').path).toBe(DIRECT)
  })
})

describe('a conditional exception', () => {
  it.each([
    [{ maxheight: '2', 'maxheight:conditional': 'no @ destination' }],
    [{ maxheight: '2', 'maxheight:conditional': 'none @ (destination)' }],
    [{ maxweight: '3.5', 'maxweight:conditional': 'none @ destination' }],
    [{ maxweight: '3.5', 'maxweight:conditional': 'none @ delivery; none @ destination' }],
    [{ 'maxweight:hgv': '3.5', 'maxweight:hgv:conditional': 'none @ customers' }],
  ])('of %j binds through traffic, and lets local traffic in', async (tags) => {
    const town = await road(tags)
    expect(town.route('AF', truck()).path).toBe(AROUND)
    expect(town.route('A2', truck()).path).toBe('ABC2')
    expect(town.route('2F', truck()).path).toBe('2DEF')
    expect(town.route('12', truck()).path).toBe('1C2')
  })

  it.each([
    [{ maxheight: '2', 'maxheight:conditional': 'none @ (22:00-06:00)' }],
    [{ maxheight: '2', 'maxheight:conditional': 'none @ (destination AND 22:00-06:00)' }],
    [{ maxweight: '3.5', 'maxweight:conditional': 'none @ (emergency)' }],
    [{ hazmat: 'no', 'hazmat:conditional': 'no @ destination' }],
  ])('of %j is none without a time, for locals either', async (tags) => {
    const town = await road(tags)
    expect(town.route('AF', truck({ hazmat: true })).path).toBe(AROUND)
    // A route to a place beyond goes as far as there is no other way.
    expect(town.route('A2', truck({ hazmat: true })).path).toBe('ABGHED2')
  })

  it('with a limit of its own leaves that one to locals', async () => {
    const town = await road({ maxweight: '3.5', 'maxweight:conditional': '12 @ destination' })
    expect(town.route('A2', truck({ weight: 10 })).path).toBe('ABC2')
    expect(town.route('AF', truck({ weight: 10 })).path).toBe(AROUND)
    expect(town.route('A2', truck({ weight: 20 })).path).toBe('ABGHED2')
  })

  it('of one direction closes it to all vehicles above', async () => {
    const town = await road({ 'maxweight:forward': '3.5', 'maxweight:conditional': 'none @ destination' })
    expect(town.route('AF', truck()).path).toBe(AROUND)
    expect(town.route('FA', truck()).path).toBe('FEDCBA')
  })

  it('is no way through where nothing else leads on', async () => {
    const only = await drawTown({
      map: 'A---B---C---D',
      ways: {
        AB: { highway: 'secondary' },
        BC: { highway: 'secondary', maxheight: '2', 'maxheight:conditional': 'none @ destination' },
        CD: { highway: 'secondary' },
      },
    })
    expect(only.route('AD').path).toBe('ABCD')
    expect(() => only.route('AD', truck())).toThrow('No path could be found for input')
    expect(only.route('AD', truck({ ignore_restrictions: true })).path).toBe('ABCD')
  })
})

it('conditional tags are split at semicolons outside parentheses, and at AND', () => {
  expect(
    conditionalCases('no @ (Mo-Fr 07:00-09:00; Sa 10:00-12:00); 30 @ (wet AND weight>7.5);yes@destination'),
  ).toEqual([
    { value: 'no', conditions: ['Mo-Fr 07:00-09:00; Sa 10:00-12:00'] },
    { value: '30', conditions: ['wet', 'weight>7.5'] },
    { value: 'yes', conditions: ['destination'] },
  ])
  expect(conditionalCases('no @ (06:00-10:00) AND (length>5)')).toEqual([
    { value: 'no', conditions: ['06:00-10:00', 'length>5'] },
  ])
  for (const text of [undefined, '', '@', 'no @', '@ destination', 'no', 'no @ ()']) {
    expect(conditionalCases(text)).toEqual([])
  }
})

describe('a toll booth', async () => {
  const street = { highway: 'residential' }
  const draw = (tags: Readonly<Record<string, string>>): Promise<AsciiTown> =>
    drawTown({
      map: 'A--B--C\n|     |\n|     |\nD-----E',
      meters: 40,
      ways: { AB: street, BC: street, AD: street, DE: street, CE: street },
      nodes: { B: { barrier: 'toll_booth', ...tags } },
    })
  const cash = await draw({ 'payment:cash': 'yes' })
  const cards = await draw({ 'payment:cash': 'yes', 'payment:credit_cards': 'yes' })
  const path = (town: AsciiTown, excludes: boolean, costing: string): string =>
    town.route('AC', { costing, costing_options: { [costing]: { exclude_cash_only_tolls: excludes } } }).path

  it.each(['auto', 'truck', 'bus', 'taxi', 'motorcycle', 'motor_scooter'])(
    'that takes cash only is gone around by %s where the request says so',
    (costing) => {
      expect(path(cash, true, costing)).toBe('ADEC')
      expect(path(cash, false, costing)).toBe('ABC')
      expect(path(cards, true, costing)).toBe('ABC')
    },
  )
})
