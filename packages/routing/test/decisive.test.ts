import { describe, expect, it } from 'vitest'

import { createCosting } from '../src/cost/create.ts'
import { costOptions } from '../src/cost/options.ts'
import { NodeField, put, turnIndex } from '../src/graph/fields.ts'
import { drawTown } from './support/ascii-map.ts'

// Each constant here decides a case that the drawn scenarios lack.

const road = { highway: 'residential' }

describe('streets for local traffic', () => {
  /** Kilometres of the way around, at 10 km/h. */
  const around = (kilometers: number) =>
    drawTown({
      map: 'A---B---C---D\n    |   |\n    E---F',
      meters: (kilometers * 1000) / 12,
      ways: {
        AB: road,
        BC: { ...road, motor_vehicle: 'destination' },
        CD: road,
        BEFC: { ...road, maxspeed: '10' },
      },
    })

  it('are crossed rather than going around for more than half a day', async () => {
    expect((await around(120)).route('AD').path).toBe('ABEFCD')
    expect((await around(168)).route('AD').path).toBe('ABCD')
  })
})

it('the denser a place, the longer one stops there', async () => {
  const { graph } = (
    await drawTown({
      map: '    D\n    |\nA---B---C\n    |\n    E',
      ways: { ABC: road, DBE: road },
    })
  ).network
  const costing = createCosting(graph, 'auto', costOptions('auto'))
  const { firstEdge, edgeOpposite, nodeInfo } = graph
  const crossing = firstEdge.findIndex((first, node) => firstEdge[node + 1]! - first === 4)
  const [from, to] = [edgeOpposite[firstEdge[crossing]!]!, firstEdge[crossing]! + 1]
  const turn = graph.turnInfo[turnIndex(graph, from, to)]!
  const costs = Array.from({ length: 16 }, (_, density) => {
    nodeInfo[crossing] = put(nodeInfo[crossing]!, NodeField.density, density)
    return costing.turnCost(from, to, turn, false)
  })
  expect(costs[0]).toBeGreaterThan(0)
  expect(costs).toEqual(costs.toSorted((a, b) => a - b))
  const factors = costs.map((cost) => cost / costs[0]!)
  expect(factors[4]).toBe(1)
  expect(factors[15]).toBeCloseTo(3.5, 9)
})

it('who crosses a border waits there whether a tag says who may, or not', async () => {
  const crossing = (tags: object) =>
    drawTown({ map: 'A---B---C', ways: { AB: road, BC: road }, nodes: { B: { ...tags } } })
  const seconds = async (tags: object) => (await crossing(tags)).route('AC').trip.summary.time
  const free = await seconds({})
  for (const tags of [{}, { access: 'yes' }, { access: 'private' }]) {
    expect((await seconds({ barrier: 'border_control', ...tags })) - free).toBeCloseTo(600, 0)
  }
})

it('a time opens no street for buses to cars', async () => {
  const town = await drawTown({
    map: 'A---B---C---D\n    |   |\n    |   |\n    E---F',
    ways: {
      AB: { ...road, 'motor_vehicle:conditional': 'no @ (22:00-06:00)' },
      BC: { ...road, motor_vehicle: 'no', bus: 'yes' },
      CD: road,
      BEFC: road,
    },
  })
  const noon = { date_time: { type: 1, value: '2026-11-23T12:00' } }
  expect(town.route('AD', noon).path).toBe('ABEFCD')
  expect(town.route('AD', { ...noon, costing: 'bus' }).path).toBe('ABCD')
})

it('a lorry with a fixed speed keeps the speed of lorries where that is lower', async () => {
  const { trip } = (
    await drawTown({
      map: 'A---B',
      meters: 250,
      ways: { AB: { highway: 'primary', maxspeed: '100', 'maxspeed:hgv': '40', hgv: 'designated' } },
    })
  ).route('AB', { costing: 'truck', costing_options: { truck: { fixed_speed: 80 } } })
  expect(trip.summary.time).toBeCloseTo(90, 0)
})

it('a scooter walks out of the gravel on which it stands', async () => {
  const town = await drawTown({
    map: 'A---B---C',
    meters: 25,
    ways: { AB: { ...road, surface: 'gravel' }, BC: road },
  })
  const { trip } = town.route('AB', { costing: 'motor_scooter' })
  expect(trip.summary.time).toBeGreaterThan(300)
})
