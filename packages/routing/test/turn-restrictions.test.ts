import { describe, expect, it } from 'vitest'

import { type AsciiTown, type DrawnRestriction, drawTown } from './support/ascii-map.ts'

// Expected values are from OpenStreetMap's wiki, page Relation:restriction.

const street = (name: string) => ({ highway: 'residential', name })

/** From A to C one turns right at B, or goes around over D. */
const square = (tags: Readonly<Record<string, string>>): Promise<AsciiTown> =>
  drawTown({
    map: 'A-----B-----E\n|     |\n|     |\n|     |\nD-----C',
    meters: 30,
    ways: {
      AB: street('North Street'),
      BE: street('East Street'),
      BC: street('Middle Street'),
      DC: street('South Street'),
      AD: street('West Street'),
    },
    restrictions: [{ from: 'AB', via: 'B', to: 'BC', tags }],
  })

const VEHICLES = ['auto', 'truck', 'motorcycle', 'motor_scooter', 'bus', 'taxi', 'bicycle']
const without = (...modes: string[]): string[] => VEHICLES.filter((mode) => !modes.includes(mode))

describe("a vehicle's own restriction counts for it alone, the general one for all others (wiki, restriction:<mode>)", () => {
  /** Modes that do not turn where a restriction is. */
  const bound = (town: AsciiTown): string[] =>
    VEHICLES.filter((costing) => town.route('AC', { costing }).path !== 'ABC')

  it.each([
    [{ restriction: 'no_right_turn', 'restriction:bus': 'none' }, without('bus')],
    [{ restriction: 'no_right_turn', 'restriction:hgv': 'no_right_turn' }, VEHICLES],
    [{ restriction: 'no_right_turn', 'restriction:hgv': 'only_right_turn' }, without('truck')],
    [{ restriction: 'only_right_turn', 'restriction:hgv': 'no_right_turn' }, ['truck']],
    [{ restriction: 'no_right_turn', 'restriction:bicycle': 'give_way' }, without('bicycle')],
    [{ 'restriction:hgv': 'no_right_turn' }, ['truck']],
    [{ 'restriction:motor_vehicle': 'no_right_turn' }, without('bicycle')],
    [{ 'restriction:motor_vehicle': 'no_right_turn', 'restriction:bus': 'none' }, without('bus', 'bicycle')],
    [{ restriction: 'no_right_turn', 'restriction:psv': 'none', except: 'bicycle' }, without('bus', 'taxi', 'bicycle')],
  ])('%j binds %j', async (tags, modes) => {
    expect(bound(await square(tags))).toEqual(modes)
  })

  it('at certain hours beside one that always holds', async () => {
    const town = await square({
      'restriction:hgv': 'no_right_turn',
      'restriction:conditional': 'no_right_turn @ (07:00-09:00)',
    })
    const at = (costing: string, time: string): string =>
      town.route('AC', { costing, date_time: { type: 1, value: `2026-11-23T${time}` } }).path
    expect([at('auto', '08:00'), at('auto', '12:00')]).toEqual(['ADC', 'ABC'])
    expect([at('truck', '08:00'), at('truck', '12:00')]).toEqual(['ADC', 'ADC'])
  })
})

describe('a restriction with several members (wiki, Relation:restriction, no_entry and no_exit)', () => {
  /** A cross at X, each of whose arms leads around to the next as well. */
  const cross = (restriction: DrawnRestriction): Promise<AsciiTown> =>
    drawTown({
      map: 'P----N----Q\n|    |    |\n|    |    |\nW----X----O\n|    |    |\n|    |    |\nR----S----T',
      meters: 30,
      ways: {
        NX: street('n'),
        XO: street('e'),
        XS: street('s'),
        WX: street('w'),
        NPW: street('nw'),
        NQO: street('ne'),
        STO: street('se'),
        WRS: street('sw'),
      },
      restrictions: [restriction],
    })

  it('of no_entry keeps out routes from each of the ways', async () => {
    const town = await cross({ from: ['NX', 'WX', 'XO'], via: 'X', to: 'XS', tags: { restriction: 'no_entry' } })
    for (const ends of ['NS', 'WS', 'OS']) expect(town.route(ends).path, ends).not.toContain('XS')
    expect(town.route('SN').path).toBe('SXN')
  })

  it('of no_exit keeps routes from one way out of each of the ways', async () => {
    const town = await cross({ from: 'NX', via: 'X', to: ['XO', 'WX', 'XS'], tags: { restriction: 'no_exit' } })
    for (const ends of ['NS', 'NW', 'NO']) expect(town.route(ends).path, ends).not.toContain('NX')
    expect(town.route('WO').path).toBe('WXO')
  })
})
