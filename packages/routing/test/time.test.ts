import { describe, expect, it } from 'vitest'

import { drawTown, type Drawing } from './support/ascii-map.ts'
import type { AsciiTown } from './support/ascii-map.ts'

const street = (name: string) => ({ highway: 'residential', name })

/** A square: AB is the short way from D to E, FC the long one. It lies in Bavaria. */
const square = (tags: Readonly<Record<string, string>>, more: Partial<Drawing> = {}): Promise<AsciiTown> =>
  drawTown({
    map: 'A-----B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C',
    meters: 30,
    ...more,
    ways: {
      AB: { ...street('North Street'), ...tags },
      BE: street('East Street'),
      BC: street('Middle Street'),
      FC: street('South Street'),
      ADF: street('West Street'),
      ...more.ways,
    },
  })

/** 2026-11-23 is a Monday. */
const at = (time: string, day = '2026-11-23') => ({ date_time: { type: 1, value: `${day}T${time}` } })
const SHORT = 'DABE'
const LONG = 'DFCBE'

describe('a street that is closed at certain hours', async () => {
  const town = await square({ 'motor_vehicle:conditional': 'no @ (Mo-Fr 07:00-09:00,16:00-18:00)' })

  it('is gone around in those hours, and used in others', () => {
    expect(town.route('DE', at('08:00')).path).toBe(LONG)
    expect(town.route('DE', at('17:59')).path).toBe(LONG)
    expect(town.route('DE', at('12:00')).path).toBe(SHORT)
    expect(town.route('DE', at('08:00', '2026-11-22')).path).toBe(SHORT)
  })

  it('is used without a time, by riders, and by who ignores restrictions', () => {
    expect(town.route('DE').path).toBe(SHORT)
    expect(town.route('DE', { ...at('08:00'), costing: 'bicycle' }).path).toBe(SHORT)
    const ignoring = { costing_options: { auto: { ignore_restrictions: true } } }
    expect(town.route('DE', { ...at('08:00'), ...ignoring }).path).toBe(SHORT)
  })

  it('counts at the moment of passing', () => {
    // A minute and a half before seven: from D the street is reached in time, from far away it is not.
    expect(town.route('DE', at('06:59')).path).toBe(SHORT)
    expect(town.route('DE', at('09:00')).path).toBe(SHORT)
  })

  it('is in the summary of modes that it may keep out', () => {
    expect(town.route('DE', at('12:00')).trip.summary.has_time_restrictions).toBe(true)
    expect(town.route('DE').trip.summary.has_time_restrictions).toBe(true)
    expect(town.route('DE', { costing: 'bicycle' }).trip.summary.has_time_restrictions).toBe(false)
    expect(town.route('DE', at('08:00')).trip.summary.has_time_restrictions).toBe(false)
  })
})

describe('a street that is open at certain hours only', async () => {
  const town = await square(
    { motor_vehicle: 'no', 'motor_vehicle:conditional': 'yes @ (06:00-10:00)' },
    { map: 'A--1--B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C' },
  )

  it('is where a route begins and ends in those hours, and in no others', () => {
    expect(town.route('1E', at('08:00')).path).toBe('1BE')
    expect(town.route('E1', at('08:00')).path).toBe('EB1')
    expect(town.route('1E', at('12:00')).path).not.toContain('1')
    expect(town.route('E1').path).not.toContain('1')
  })
})

it('a long way to a street that closes soon is another way in the end', async () => {
  const town = await drawTown({
    map: 'A----------------------------------------B---C\n                                         |   |\n                                         D---E',
    meters: 100,
    ways: {
      AB: { highway: 'residential', maxspeed: '30' },
      BC: { highway: 'residential', 'access:conditional': 'no @ (08:05-10:00)' },
      BD: { highway: 'residential' },
      DE: { highway: 'residential' },
      EC: { highway: 'residential' },
    },
  })
  expect(town.route('AC', at('08:03')).path).toBe('ABDEC')
  expect(town.route('BC', at('08:03')).path).toBe('BC')
  expect(town.route('AC', at('07:50')).path).toBe('ABC')
  // A time that stands is that of the departure all the way.
  expect(town.route('AC', { date_time: { type: 3, value: '2026-11-23T08:03' } }).path).toBe('ABC')
  // A route that arrives at 08:05 uses the street before it closes.
  expect(town.route('AC', { date_time: { type: 2, value: '2026-11-23T08:05' } }).path).toBe('ABC')
  expect(town.route('AC', { date_time: { type: 2, value: '2026-11-23T08:30' } }).path).toBe('ABDEC')
})

describe('a street that is open at certain hours', () => {
  it('is closed otherwise where a tag says so, also without a time', async () => {
    const town = await square({ motor_vehicle: 'no', 'motor_vehicle:conditional': 'yes @ (19:00-07:00)' })
    expect(town.route('DE', at('23:00')).path).toBe(SHORT)
    expect(town.route('DE', at('06:30')).path).toBe(SHORT)
    expect(town.route('DE', at('12:00')).path).toBe(LONG)
    expect(town.route('DE').path).toBe(LONG)
  })

  it('is closed otherwise where no tag says anything, if there is a time', async () => {
    const town = await square({ 'motor_vehicle:conditional': 'yes @ (19:00-07:00)' })
    expect(town.route('DE', at('23:00')).path).toBe(SHORT)
    expect(town.route('DE', at('12:00')).path).toBe(LONG)
    expect(town.route('DE').path).toBe(SHORT)
  })

  it('opens no way against a one-way street', async () => {
    const town = await square({ oneway: '-1', motor_vehicle: 'no', 'motor_vehicle:conditional': 'yes @ (19:00-07:00)' })
    expect(town.route('DE', at('23:00')).path).toBe(LONG)
    expect(town.route('ED', at('23:00')).path).toBe('EBAD')
  })

  it('may be closed to everybody else', async () => {
    const town = await square({ access: 'no', 'access:conditional': 'yes @ (Sa,Su)' })
    expect(town.route('DE', at('12:00', '2026-11-22')).path).toBe(SHORT)
    expect(town.route('DE', at('12:00')).path).toBe(LONG)
    expect(town.route('DE').path).toBe(LONG)
  })
})

it('a street for local traffic at certain hours is passed then only where nothing leads around', async () => {
  const town = await square({ 'motor_vehicle:conditional': 'destination @ (06:00-09:00)' })
  expect(town.route('DE', at('08:00')).path).toBe(LONG)
  expect(town.route('DA', at('08:00')).path).toBe('DA')
  expect(town.route('EA', at('08:00')).path).toBe('EBA')
  expect(town.route('DE', at('12:00')).path).toBe(SHORT)
  const only = await square(
    { 'motor_vehicle:conditional': 'destination @ (06:00-09:00)' },
    { ways: { FC: { highway: 'footway' } } },
  )
  expect(only.route('DE', at('08:00')).path).toBe(SHORT)
})

it('a street that hours open for local traffic alone is no way through', async () => {
  const tags = { motor_vehicle: 'no', 'motor_vehicle:conditional': 'destination @ (06:00-09:00)' }
  const town = await square(tags)
  expect(town.route('DE', at('08:00')).path).toBe(LONG)
  expect(town.route('DE', at('12:00')).path).toBe(LONG)
  expect(town.route('DE').path).toBe(LONG)
  const only = await square(tags, { ways: { FC: { highway: 'footway' } } })
  expect(only.route('DE', at('08:00')).path).toBe(SHORT)
})

it.each([
  ['one-way at certain hours', { 'oneway:conditional': 'yes @ (06:00-09:00)' }, 'ED', 'EBCFD', 'EBAD'],
  ['two-way at certain hours', { oneway: 'yes', 'oneway:conditional': 'no @ (06:00-09:00)' }, 'ED', 'EBAD', 'EBCFD'],
  ['turned around at certain hours', { 'oneway:conditional': '-1 @ (06:00-09:00)' }, 'DE', LONG, SHORT],
])('a street can be %s', async (_, tags, places, inHours, otherwise) => {
  const town = await square(tags)
  expect(town.route(places, at('08:00')).path).toBe(inHours)
  expect(town.route(places, at('12:00')).path).toBe(otherwise)
  expect(town.route(places).path).toBe(otherwise)
})

it('a limit of weight at certain hours keeps out who exceeds it', async () => {
  const town = await square({
    'maxweight:conditional': '7.5 @ (22:00-06:00)',
    'hgv:conditional': 'no @ (weight>20 AND Su)',
  })
  const truck = (weight: number) => ({ costing: 'truck', costing_options: { truck: { weight } } })
  expect(town.route('DE', { ...truck(12), ...at('23:00') }).path).toBe(LONG)
  expect(town.route('DE', { ...truck(7), ...at('23:00') }).path).toBe(SHORT)
  expect(town.route('DE', { ...truck(12), ...at('12:00') }).path).toBe(SHORT)
  expect(town.route('DE', { ...truck(12), ...at('12:00', '2026-11-22') }).path).toBe(SHORT)
  expect(town.route('DE', { ...truck(30), ...at('12:00', '2026-11-22') }).path).toBe(LONG)
  expect(town.route('DE', { ...truck(30), ...at('12:00') }).path).toBe(SHORT)
})

describe('a turn that is forbidden at certain hours', () => {
  const restricted = (tags: Readonly<Record<string, string>>, via: string | string[] = 'B', to = 'BE') =>
    square({}, { restrictions: [{ from: 'AB', via, to, tags }] })

  it.each<[string, Record<string, string>, string?, string?]>([
    ['a conditional restriction', { 'restriction:conditional': 'no_straight_on @ (Mo-Fr 07:00-09:00)' }],
    ['one for lorries and cars', { 'restriction:motorcar:conditional': 'no_straight_on @ (Mo-Fr 07:00-09:00)' }],
    [
      'older tags',
      { restriction: 'no_straight_on', hour_on: '07:00', hour_off: '09:00', day_on: 'Monday', day_off: 'Friday' },
    ],
    ['all other turns', { 'restriction:conditional': 'only_right_turn @ (Mo-Fr 07:00-09:00)' }, 'B', 'BC'],
  ])('by %s is not taken then', async (_, tags, via, to) => {
    const town = await restricted(tags, via, to)
    expect(town.route('DE', at('08:00')).path).not.toBe(SHORT)
    expect(town.route('DE', at('09:30')).path).toBe(SHORT)
    expect(town.route('DE', at('08:00', '2026-11-22')).path).toBe(SHORT)
    expect(town.route('DE').path).toBe(SHORT)
  })

  it('may lie behind a way', async () => {
    const town = await square(
      {},
      {
        restrictions: [
          {
            from: 'ADF',
            via: ['AB'],
            to: 'BE',
            tags: { 'restriction:conditional': 'no_straight_on @ (07:00-09:00)' },
          },
        ],
      },
    )
    expect(town.route('DE', at('08:00')).path).toBe(LONG)
    expect(town.route('DE', at('12:00')).path).toBe(SHORT)
    expect(town.route('AE', at('08:00')).path).toBe('ABE')
  })
})

describe('times of an answer', async () => {
  const town = await square({})

  it('are those of the clocks at the places, with their zone', () => {
    const { locations, summary } = town.route('DE', at('08:00')).trip
    expect(locations[0]).toMatchObject({
      date_time: '2026-11-23T08:00',
      time_zone_offset: '+01:00',
      time_zone_name: 'Europe/Berlin',
    })
    expect(summary.time).toBeLessThan(120)
    expect(['2026-11-23T08:00', '2026-11-23T08:01']).toContain(locations[1]!.date_time)
    const arriving = town.route('DE', { date_time: { type: 2, value: '2026-07-01T08:00' } }).trip.locations
    expect(arriving[1]).toMatchObject({ date_time: '2026-07-01T08:00', time_zone_offset: '+02:00' })
    expect(arriving[0]!.date_time! < '2026-07-01T08:00').toBe(true)
  })

  it('hold stays at stops between', () => {
    const locations = [town.at('D'), { ...town.at('A'), waiting: 3600 }, town.at('E')]
    const { trip } = town.answer(locations, at('08:00'))
    expect(trip.locations[2]!.date_time!.slice(0, 13)).toBe('2026-11-23T09')
  })
})

it('hours are those of the place, wherever the server stands', async () => {
  const newYork = await square(
    { 'access:conditional': 'no @ (08:00-09:00)' },
    { origin: { lon: -73.95, lat: 40.7 }, drivingSide: 'right' },
  )
  expect(newYork.route('DE', at('08:30')).path).toBe(LONG)
  expect(newYork.route('DE', at('13:30')).path).toBe(SHORT)
  expect(newYork.route('DE', at('08:30')).trip.locations[0]!.time_zone_name).toBe('America/New_York')
})

it('a time opens no street that is closed at all times', async () => {
  const town = await square(
    { motor_vehicle: 'no' },
    { ways: { BC: { ...street('Middle Street'), 'motor_vehicle:conditional': 'no @ (01:00-02:00)' } } },
  )
  for (const costing of ['auto', 'truck', 'bus', 'taxi', 'motor_scooter', 'motorcycle']) {
    expect(town.route('DE', { ...at('12:00'), costing }).path).toBe(LONG)
  }
})
