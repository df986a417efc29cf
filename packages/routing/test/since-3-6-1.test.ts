import { describe, expect, it } from 'vitest'

import { Router } from '../src/index.ts'
import { type AsciiTown, drawTown } from './support/ascii-map.ts'

// Changes of Valhalla since 3.6.1, by the numbers of its pull requests.

type Tags = Readonly<Record<string, string>>

const street = (name: string) => ({ highway: 'residential', name })

const square = (tags: Tags): Promise<AsciiTown> =>
  drawTown({
    map: 'A--1--B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C',
    meters: 30,
    ways: {
      AB: { ...street('North Street'), ...tags },
      BE: street('East Street'),
      BC: street('Middle Street'),
      FC: street('South Street'),
      ADF: street('West Street'),
    },
  })

const SHORT = 'DABE'
const LONG = 'DFCBE'

function edgeAt(town: AsciiTown, place: string): Record<string, unknown> {
  const request = { locations: [town.at(place)], verbose: true }
  const [{ edges }] = JSON.parse(new Router(town.network).answer(JSON.stringify(request), 'locate').body) as [
    { edges: { edge: { classification: Record<string, unknown> } }[] },
  ]
  return edges[0]!.edge.classification
}

describe.each(['auto', 'bus', 'taxi'])('sizes of %s (#5627)', (costing) => {
  it.each([
    [{ maxlength: '6' }, { length: 6 }, { length: 6.1 }],
    [{ maxweight: '3.5' }, { weight: 3.5 }, { weight: 3.6 }],
    [{ 'motor_vehicle:conditional': 'no @ (weight>3.5)' }, { weight: 3.5 }, { weight: 3.6 }],
    [{ 'motor_vehicle:conditional': 'no @ (length>6)' }, {}, { length: 7 }],
  ])('%j', async (tags, fits, breaks) => {
    const town = await square(tags)
    const way = (options: object): string => town.route('DE', { costing, costing_options: { [costing]: options } }).path
    expect([way({}), way(fits), way(breaks)]).toEqual([SHORT, SHORT, LONG])
  })
})

it.each(['auto', 'truck', 'motorcycle', 'motor_scooter', 'bus', 'taxi'])(
  'speed_penalty_factor of %s weighs streets that are faster than it (#5627)',
  async (costing) => {
    const town = await drawTown({
      map: 'A---B',
      meters: 200,
      ways: { AB: { highway: 'trunk', maxspeed: '100', access: 'yes' } },
    })
    const cost = (factor: number): number =>
      town.route('AB', { costing, costing_options: { [costing]: { top_speed: 45, speed_penalty_factor: factor } } })
        .trip.summary.cost
    expect(cost(0.5)).toBeGreaterThan(cost(0.05))
    expect(cost(0)).toBeLessThan(cost(0.05))
  },
)

it('walkers use platforms, and no other mode (#5913)', async () => {
  const town = await square({ highway: 'platform' })
  const ways = ['pedestrian', 'auto', 'bicycle'].map((costing) => town.route('DE', { costing }).path)
  expect(ways).toEqual([SHORT, LONG, LONG])
  expect(edgeAt(town, '1')).toMatchObject({ classification: 'service_other', use: 'platform' })
})

it.each(['clay', 'laterite'])('surface=%s is dirt (#6171)', async (surface) => {
  expect(edgeAt(await square({ surface }), '1')).toMatchObject({ surface: 'dirt' })
})

it('junction=intersection lies inside a crossing (#5980)', async () => {
  expect(edgeAt(await square({ junction: 'intersection' }), '1')).toMatchObject({ internal: true })
  expect(edgeAt(await square({}), '1')).toMatchObject({ internal: false })
})

it('legs say what they use without maneuvers too (3.8.2)', async () => {
  const town = await square({ toll: 'yes', highway: 'motorway', oneway: 'no' })
  const { trip } = town.route('AB', { directions_type: 'none' })
  expect(trip.legs[0]!.summary).toMatchObject({ has_toll: true, has_highway: true, has_ferry: false })
})
