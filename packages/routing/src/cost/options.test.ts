import { describe, expect, it } from 'vitest'

import { DEFAULT_LIMITS } from '../request/limits.ts'
import { optionBounds, readAround } from '../../test/support/option-bounds.ts'
import { costOptions, type Mode, MODES, optionFaults } from './options.ts'
import { PROFILES } from './profiles/index.ts'

it.each(MODES)('takes the default of %s for what is missing, out of bounds or of another type', (mode) => {
  const plain = costOptions(mode)
  const absurd = Object.fromEntries(
    Object.entries(plain).flatMap(([name, value]) => (typeof value === 'boolean' ? [] : [[name, -1e9]])),
  )
  const mistyped = Object.fromEntries(Object.keys(plain).map((name) => [name, { value: 1 }]))
  for (const given of [undefined, null, 'fast', [], absurd, mistyped]) expect(costOptions(mode, given)).toEqual(plain)
})

// Expected values were observed in Valhalla 3.6.1.
it.each<[name: string, said: unknown, read: unknown]>([
  ['use_highways', '0.25', 0.25],
  ['shortest', '1', true],
  ['shortest', 'true', false],
  ['shortest', 2, true],
  ['shortest', 0, false],
  ['fixed_speed', 3.7, 3],
  ['fixed_speed', '3.7', 0],
  ['fixed_speed', '30', 30],
])('reads %s of %j as %j', (name, said, read) => {
  expect(costOptions('auto', { [name]: said })[name]).toBe(read)
})

it('sets the speed of a bicycle by its type unless it is given', () => {
  expect(costOptions('bicycle', { bicycle_type: 'Road' }).cycling_speed).toBe(25)
  expect(costOptions('bicycle', { bicycle_type: 'Road', cycling_speed: 12 }).cycling_speed).toBe(12)
})

it('gives equal options for equal meanings, whatever their order', () => {
  const one = costOptions('truck', { height: 3, hazmat: true })
  const other = costOptions('truck', { hazmat: '1', unknown: 1, height: '3' })
  expect(JSON.stringify(one)).toBe(JSON.stringify(other))
})

describe.each(MODES)('the options of %s', (mode) => {
  const bounds = optionBounds(mode)

  it('are all there', () => {
    const numbers = Object.entries(costOptions(mode)).filter(([, value]) => typeof value === 'number')
    expect(numbers.map(([name]) => name).toSorted()).toEqual([...bounds.keys()].toSorted())
  })

  it.each([...bounds])('take %s within its bounds, and the default beyond them', (name, [least, fallback, most]) => {
    expect(readAround(mode, name, [least, fallback, most])).toEqual([fallback, least, most, fallback, fallback])
    const given = { [name]: most + 1 }
    expect(optionFaults(mode, given, costOptions(mode, given)).outOfBounds).toHaveLength(1)
  })
})

it('depend on what else is said of a bicycle and of a walker', () => {
  const speeds = ['Road', 'Cross', 'Hybrid', 'Mountain'].map((type) => costOptions('bicycle', { bicycle_type: type }))
  expect(speeds.map(({ cycling_speed }) => cycling_speed)).toEqual([25, 20, 18, 16])
  const walkers = ['foot', 'wheelchair', 'blind'].map((type) => costOptions('pedestrian', { type }))
  expect(walkers.map(({ walking_speed, step_penalty }) => [walking_speed, step_penalty])).toEqual([
    [5.1, 30],
    [4, 600],
    [5.1, 30],
  ])
})

it('limits requests as Valhalla does', () => {
  const most = Object.entries(DEFAULT_LIMITS.modes).map(
    ([mode, { locations, meters }]) =>
      `${mode} ${locations} ${meters / 1000} ${DEFAULT_LIMITS.matrix.meters[mode as Mode] / 1000}`,
  )
  expect(most.toSorted()).toEqual([
    'auto 20 5000 400',
    'bicycle 50 500 200',
    'bus 50 5000 400',
    'motor_scooter 50 500 200',
    'motorcycle 50 500 200',
    'pedestrian 50 250 200',
    'taxi 20 5000 400',
    'truck 20 5000 400',
  ])
})

it('lets a place cost at most so many seconds for lying off the nearest street, by mode', () => {
  expect(MODES.map((mode) => `${mode} ${PROFILES[mode].farPenalty}`).toSorted()).toEqual([
    'auto 43200',
    'bicycle 7200',
    'bus 43200',
    'motor_scooter 14400',
    'motorcycle 14400',
    'pedestrian 7200',
    'taxi 43200',
    'truck 43200',
  ])
})
