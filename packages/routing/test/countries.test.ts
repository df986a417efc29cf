import { afterAll, describe, expect, it } from 'vitest'

import { Router } from '../src/index.ts'
import { type AsciiTown, type Drawing, drawTown } from './support/ascii-map.ts'

const street = { highway: 'secondary' }
const around = { highway: 'secondary', junction: 'roundabout' }

/** Dungeness and Calais with a ferry between them; each has a roundabout that runs as one drives there. */
const CHANNEL: Drawing = {
  map: `
    b                                                         h
    N   x                                                 u   n
A W   E c                                                 p w   e g
    S   y                                                 v   s
    d                                                         f
`.slice(1),
  meters: 1000,
  origin: { lon: 0.93, lat: 51.006 },
  drivingSide: 'country',
  ways: {
    AW: street,
    WNESW: around,
    Nb: street,
    Sd: street,
    Ec: street,
    cp: { route: 'ferry', duration: '01:30' },
    pw: street,
    wsenw: around,
    sf: street,
    eg: street,
    nh: street,
    xcy: street,
    upv: street,
  },
}

type Texts = Readonly<Record<string, string>>

describe('a graph over two countries', async () => {
  const town = await drawTown(CHANNEL)
  /** The side to drive on at c in England and at p in France, by which of two turns costs more: that over oncoming traffic. */
  const sides = (at: AsciiTown): ('left' | 'right')[] => {
    const cost = (places: string): number => at.route(places).trip.summary.cost
    return [cost('Ey') > cost('Ex') ? 'left' : 'right', cost('wv') > cost('wu') ? 'right' : 'left']
  }

  it('narrates both sides of the sea', () => {
    const route = town.route('Ag')
    expect(route.path).toBe('AWNEcpwseg')
    expect(route.maneuvers.flatMap(({ roundabout_exit_count: count }) => count ?? [])).toEqual([2, 2])
    expect(route.kinds).toContain('ferryEnter')
  })

  describe('names its countries', () => {
    const router = new Router(town.network)
    afterAll(() => router.close())
    const request = { locations: [town.at('A'), town.at('g')], costing: 'auto' }
    // oxlint-disable-next-line typescript/no-explicit-any -- an answer as a caller sees it
    const ask = (more: object, action: 'route' | 'trace_attributes' = 'route'): any =>
      JSON.parse(router.answer(JSON.stringify({ ...request, ...more }), action).body)
    const named = ['GB', 'United Kingdom', 'FR', 'France']

    it('as Valhalla with admin_crossings', () => {
      const { trip } = ask({ admin_crossings: true })
      const { admins, admin_crossings: crossings } = trip.legs[0].summary
      const texts = admins.flatMap(({ country_code: code, country_text: text }: Texts) => [code, text])
      expect(texts.filter((text: string) => text !== '')).toEqual(named)
      expect(crossings[0]).toMatchObject({ from_admin_index: 0, to_admin_index: 1 })
      expect(crossings[0].end_shape_index).toBeGreaterThan(crossings[0].begin_shape_index)
      expect([trip.warnings, ask({}).trip.legs[0].summary.admins]).toEqual([undefined, undefined])
    })

    it('as Valhalla with format=osrm', () => {
      const [leg] = ask({ format: 'osrm' }).routes[0].legs
      expect(leg.admins.filter((admin: Texts) => 'iso_3166_1' in admin)).toEqual([
        { iso_3166_1: 'GB', iso_3166_1_alpha3: 'GBR' },
        { iso_3166_1: 'FR', iso_3166_1_alpha3: 'FRA' },
      ])
      const indexes = leg.steps.flatMap(({ intersections }: { intersections: { admin_index: number }[] }) =>
        intersections.map(({ admin_index: index }) => index),
      )
      expect([indexes[0], indexes.at(-1)]).toEqual([0, leg.admins.length - 1])
    })

    it('as Valhalla with trace_attributes, as a filter has it', () => {
      const { shape } = ask({}).trip.legs[0]
      const trace = { encoded_polyline: shape, shape_match: 'edge_walk' }
      const { admins, edges } = ask(trace, 'trace_attributes')
      expect(admins[0]).toEqual({ country_code: 'GB', country_text: 'United Kingdom', state_code: '', state_text: '' })
      expect([edges[0].end_node.admin_index, edges.at(-1).end_node.admin_index]).toEqual([0, admins.length - 1])
      const only = ask(
        { ...trace, filters: { attributes: ['admin.country_code'], action: 'include' } },
        'trace_attributes',
      )
      expect(only.admins[0]).toEqual({ country_code: 'GB' })
    })

    it('with trace_attributes also that of the first street, if the next is in another', () => {
      const { shape } = ask({ locations: [town.at('E'), town.at('p')] }).trip.legs[0]
      const trace = { encoded_polyline: shape, shape_match: 'edge_walk' }
      const { admins, edges } = ask(trace, 'trace_attributes')
      expect([edges.length, edges[0].end_node.admin_index]).toEqual([2, 1])
      expect(admins.map((admin: Texts) => admin['country_code'])).toEqual(['GB', 'FR'])
    })

    it('only if the graph was built with them', async () => {
      const other = new Router((await drawTown({ ...CHANNEL, drivingSide: 'left' })).network)
      const answer = (more: object) => JSON.parse(other.answer(JSON.stringify({ ...request, ...more })).body)
      expect(answer({ admin_crossings: true }).trip.legs[0].summary.admins).toEqual([])
      expect(answer({ format: 'osrm' }).routes[0].legs[0].admins).toBeUndefined()
      await other.close()
    })
  })

  it('drives on the side of each', () => {
    expect(sides(town)).toEqual(['left', 'right'])
  })

  it('drives on one side when told to', async () => {
    expect(sides(await drawTown({ ...CHANNEL, drivingSide: 'left' }))).toEqual(['left', 'left'])
    expect(sides(await drawTown({ ...CHANNEL, drivingSide: 'right' }))).toEqual(['right', 'right'])
  })

  it('follows driving_side where ways have one', async () => {
    const tagged = Object.fromEntries(
      Object.entries(CHANNEL.ways).map(([word, tags]) => [word, { ...tags, driving_side: 'right' }]),
    )
    expect(sides(await drawTown({ ...CHANNEL, ways: tagged }))).toEqual(['right', 'right'])
    expect(sides(await drawTown({ ...CHANNEL, ways: tagged, drivingSide: 'left' }))).toEqual(['right', 'right'])
  })
})

describe('who may use a way without an access tag', () => {
  const PLACES = {
    AT: { lon: 14, lat: 47.5 },
    DE: { lon: 11, lat: 50 },
    GB: { lon: -1.5, lat: 52.5 },
    US: { lon: -95, lat: 40 },
  }
  const passes = async (
    country: keyof typeof PLACES,
    tags: Readonly<Record<string, string>>,
    costing: string,
    drivingSide: 'country' | 'right' = 'country',
  ): Promise<string> => {
    const town = await drawTown({
      map: 'A---B---C---D\n    |   |\n    |   |\n    E---F',
      origin: PLACES[country],
      drivingSide,
      ways: { AB: street, BC: tags, CD: street, BEFC: street },
    })
    return town.route('AD', { costing }).path
  }
  const [through, round] = ['ABCD', 'ABEFCD']

  it.each([
    ['AT', { highway: 'path' }, 'bicycle', round],
    ['AT', { highway: 'path' }, 'pedestrian', through],
    ['AT', { highway: 'path', bicycle: 'yes' }, 'bicycle', through],
    ['DE', { highway: 'path' }, 'bicycle', through],
    ['AT', { highway: 'trunk' }, 'bicycle', round],
    ['AT', { highway: 'trunk' }, 'pedestrian', round],
    ['AT', { highway: 'trunk' }, 'motor_scooter', round],
    ['AT', { highway: 'trunk' }, 'auto', through],
    ['AT', { highway: 'trunk', access: 'yes' }, 'pedestrian', through],
    ['DE', { highway: 'trunk' }, 'pedestrian', through],
    ['GB', { highway: 'bridleway' }, 'pedestrian', through],
    ['DE', { highway: 'bridleway' }, 'pedestrian', round],
    ['GB', { highway: 'cycleway' }, 'pedestrian', through],
    ['GB', { highway: 'cycleway', foot: 'no' }, 'pedestrian', round],
    ['DE', { highway: 'cycleway' }, 'pedestrian', round],
    ['US', { highway: 'pedestrian' }, 'auto', round],
    ['US', { highway: 'path' }, 'motor_scooter', round],
  ] as const)('in %s on %j by %s', async (country, tags, costing, path) => {
    expect(await passes(country, tags, costing)).toBe(path)
  })

  it('keeps the directions that tags leave to a mode', async () => {
    const tags = { highway: 'cycleway', 'oneway:bicycle': 'yes' }
    const town = await drawTown({
      map: 'A---B---C---D\n    |   |\n    |   |\n    E---F',
      origin: PLACES.GB,
      drivingSide: 'country',
      ways: { AB: street, BC: tags, CD: street, BEFC: street },
    })
    expect(town.route('AD', { costing: 'bicycle' }).path).toBe(through)
    expect(town.route('DA', { costing: 'bicycle' }).path).toBe('DCFEBA')
    expect(town.route('DA', { costing: 'pedestrian' }).path).toBe('DCBA')
  })

  it('is what it is anywhere when a side is given instead', async () => {
    expect(await passes('AT', { highway: 'path' }, 'bicycle', 'right')).not.toBe(round)
    expect(await passes('GB', { highway: 'cycleway' }, 'pedestrian', 'right')).toBe(round)
  })
})

describe('speeds without a tag', () => {
  const speed = async (
    origin: { lon: number; lat: number },
    tags: Readonly<Record<string, string>>,
    more: Readonly<Record<string, unknown>> = {},
    drivingSide: 'country' | 'right' = 'country',
  ): Promise<number> => {
    const town = await drawTown({ map: 'A---------B', origin, meters: 1000, drivingSide, ways: { AB: tags } })
    const { time, length } = town.route('AB', more).trip.summary
    return Math.round((length / time) * 3600)
  }
  const spain = { lon: -4, lat: 40 }
  const portugal = { lon: -8, lat: 39.5 }
  const switzerland = { lon: 7.5, lat: 47 }

  it('are at most what the country allows', async () => {
    expect(await speed(switzerland, { highway: 'trunk' })).toBe(80)
    expect(await speed(spain, { highway: 'trunk' })).toBe(90)
    expect(await speed(switzerland, { highway: 'trunk' }, {}, 'right')).toBe(90)
    expect(await speed(switzerland, { highway: 'trunk', maxspeed: '100' })).toBe(100)
    expect(await speed(switzerland, { highway: 'tertiary' })).toBe(50)
    expect(await speed(spain, { highway: 'living_street' })).toBe(20)
  })

  it('of lorries too', async () => {
    const truck = { costing: 'truck' }
    expect(await speed(portugal, { highway: 'motorway' }, truck)).toBe(90)
    expect(await speed(portugal, { highway: 'motorway' })).toBe(105)
    expect(await speed(portugal, { highway: 'motorway', 'maxspeed:hgv': '70' }, truck)).toBe(70)
    expect(await speed(spain, { highway: 'trunk' }, truck)).toBe(80)
  })
})
