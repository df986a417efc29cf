import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

import { ACTIONS, type Network, Router } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'

interface Edge {
  way_id: number
  side_of_street: string
  percent_along: number
}

const town = await drawTown({
  map: `
A----1----B
          |
          C     D--E`,
  ways: {
    AB: { highway: 'residential', name: 'Long Street', maxspeed: '30' },
    BC: { highway: 'footway' },
    DE: { highway: 'residential' },
  },
  meters: 40,
})

// oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
function ask(action: 'locate' | 'status', request: Record<string, unknown>, network: Network = town.network): any {
  return JSON.parse(
    new Router(network, { builtAt: new Date(1_700_000_000_500) }).answer(JSON.stringify(request), action).body,
  )
}

async function withPlace(tags: Record<string, string>): Promise<{ network: Network; at: object }> {
  const one = await drawTown({ map: 'A--1--B', ways: { AB: { highway: 'residential', ...tags } } })
  return { network: one.network, at: one.at('1') }
}

describe('locate', () => {
  it('gives both directions of the street beside a place, with its share and side', () => {
    const { lon, lat } = town.at('1')
    const [{ edges, nodes, ...rest }] = ask('locate', { locations: [{ lon, lat: lat + 1e-4 }], costing: 'auto' })
    expect(rest.input_lon).toBeCloseTo(lon, 5)
    expect(nodes).toEqual([])
    expect(edges.map(({ side_of_street }: Edge) => side_of_street).toSorted()).toEqual(['left', 'right'])
    for (const edge of edges) {
      expect(edge.percent_along).toBeCloseTo(0.5, 2)
      expect(edge.correlated_lat).toBeCloseTo(lat, 5)
      expect(edge.way_id).toBe(1)
    }
  })

  it('tells the limit that a sign says, in km/h', async () => {
    const limits = async (tags: Record<string, string>): Promise<unknown> => {
      const { network, at } = await withPlace(tags)
      return ask('locate', { locations: [at], verbose: true }, network)[0].edges[0].edge_info.speed_limit
    }
    expect([await limits({ maxspeed: '30' }), await limits({ maxspeed: '20 mph' })]).toEqual([30, 32])
    expect([await limits({ maxspeed: 'none' }), await limits({})]).toEqual(['unlimited', 0])
  })

  it('gives the crossing at a place, and the streets that meet there', () => {
    const [{ edges, nodes }] = ask('locate', { locations: [town.at('B')], costing: 'pedestrian' })
    expect(nodes).toHaveLength(1)
    expect(nodes[0].lat).toBeCloseTo(town.at('B').lat, 5)
    expect(edges.map(({ percent_along }: Edge) => percent_along).toSorted()).toEqual([0, 0, 1, 1])
  })

  it('counts only the streets of the costing, and all of them without one', () => {
    const ways = (costing?: string): number[] =>
      ask('locate', { locations: [town.at('C')], ...(costing && { costing }) })[0].edges.map(
        (edge: Edge) => edge.way_id,
      )
    expect(new Set(ways('auto'))).toEqual(new Set([1]))
    expect(new Set(ways('pedestrian'))).toEqual(new Set([2]))
    expect(new Set(ways())).toEqual(new Set([2]))
  })

  it('tells what the graph knows when it is verbose, and how well a street is connected', () => {
    const { lon, lat } = town.at('1')
    const locations = [{ lon, lat: lat + 1e-4, minimum_reachability: 2 }]
    const [{ edges }] = ask('locate', { locations, costing: 'auto', verbose: true })
    expect(edges[0]).toMatchObject({
      distance: 11.1,
      heading: expect.closeTo(90, 0),
      outbound_reach: 2,
      inbound_reach: 2,
      edge_info: { way_id: 1, names: ['Long Street'], shape: expect.any(String) },
      edge: {
        speeds: { default: 30 },
        access: { car: true, pedestrian: true },
        classification: { classification: 'residential', use: 'road' },
      },
    })
  })

  it('says null where nothing is near, why when it is verbose, and goes on', () => {
    const far = { lon: 30, lat: 10 }
    const [nothing, something] = ask('locate', { locations: [far, town.at('A')], costing: 'auto' })
    expect(nothing).toEqual({ input_lat: 10, input_lon: 30, edges: null, nodes: null })
    expect(something.edges).not.toHaveLength(0)
    expect(ask('locate', { locations: [far], costing: 'auto', verbose: true })[0].reason).toMatch(/No data/)
  })

  it.each([
    [{}, 110],
    [{ locations: [{ lat: 91, lon: 0 }] }, 130],
    [{ locations: [town.at('A')], costing: 'rocket' }, 125],
    [{ locations: Array(101).fill(town.at('A')) }, 150],
  ])('refuses what it cannot look up (%#)', (request, code) => {
    expect(ask('locate', request)).toMatchObject({ error_code: code, status_code: 400 })
  })
})

describe('status', () => {
  it('tells the version of the package, the age of the data and what is served', () => {
    const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as Record<
      string,
      string
    >
    expect(ask('status', {})).toEqual({
      version,
      tileset_last_modified: 1_700_000_000,
      available_actions: ACTIONS,
    })
  })

  it('tells where the data lies when it is verbose', () => {
    const { bbox, has_tiles } = ask('status', { verbose: true })
    expect(has_tiles).toBe(true)
    const [ring] = bbox.features[0].geometry.coordinates
    expect(ring[0][0]).toBeCloseTo(town.at('A').lon, 5)
    expect(ring[2][0]).toBeCloseTo(town.at('E').lon, 5)
  })
})
