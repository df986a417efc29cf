import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

type Tags = Readonly<Record<string, string>>
const street = { highway: 'residential' }

/** A short way over a street with a toll, and one around it. */
const town = (toll: Tags) =>
  drawTown({
    map: `
      A-B-------------------C-D
        |                   |
        E-------------------F
    `,
    meters: 40,
    ways: { AB: street, BC: { ...street, ...toll }, CD: street, BE: street, EF: street, FC: street },
  })

const MOTORS = ['auto', 'bus', 'motorcycle', 'taxi', 'truck']
const but = (...modes: string[]) => MOTORS.filter((mode) => !modes.includes(mode))

// Source: OpenStreetMap wiki, Key:toll, and its transport mode hierarchy.
describe('a toll', () => {
  it.each<[Tags, string[], string[]]>([
    [{ toll: 'yes' }, MOTORS, MOTORS],
    [{ 'toll:hgv': 'yes' }, ['truck'], ['truck']],
    [{ 'toll:N3': 'yes' }, ['truck'], ['truck']],
    [{ toll: 'no', 'toll:hgv': 'yes' }, ['truck'], ['truck']],
    [{ toll: 'yes', 'toll:hgv': 'no' }, but('truck'), but('truck')],
    [{ toll: 'yes', 'toll:motorcycle': 'no' }, but('motorcycle'), but('motorcycle')],
    [{ 'toll:motor_vehicle': 'yes', 'toll:bus': 'no' }, but('bus'), but('bus')],
    [{ 'toll:psv': 'yes' }, ['bus', 'taxi'], ['bus', 'taxi']],
    [{ 'toll:forward': 'yes' }, MOTORS, []],
    [{ toll: 'yes', 'toll:backward': 'no' }, MOTORS, []],
    [{ 'toll:hgv:backward': 'yes' }, [], ['truck']],
  ])('%j is paid by %j along the street, and by %j against it', async (tags, along, against) => {
    const map = await town(tags)
    for (const [places, paying] of [
      ['AD', along],
      ['DA', against],
    ] as const) {
      const hasToll = (costing: string): boolean => map.route(places, { costing }).trip.summary.has_toll
      expect(MOTORS.filter(hasToll)).toEqual(paying)
      const avoids = (costing: string, options: object): boolean =>
        /[EF]/.test(map.route(places, { costing, costing_options: { [costing]: options } }).path)
      expect(MOTORS.filter((mode) => avoids(mode, { exclude_tolls: true }))).toEqual(paying)
      // As in Valhalla, taxis have no such preference.
      const choosing = MOTORS.filter((mode) => mode !== 'taxi' && avoids(mode, { use_tolls: 0 }))
      expect(choosing).toEqual(paying.filter((mode) => mode !== 'taxi'))
    }
  })
})
