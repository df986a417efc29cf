import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

/** Two ways from A to D: the upper one, with the tags, is shorter. */
const town = (tags: Readonly<Record<string, string>>) =>
  drawTown({
    map: 'A---B-----------C---D\n    |           |\n    |           |\n    E-----------F',
    meters: 50,
    ways: {
      AB: { highway: 'secondary', maxspeed: '60' },
      BC: { highway: 'secondary', ...tags },
      CD: { highway: 'secondary', maxspeed: '60' },
      BEFC: { highway: 'secondary', maxspeed: '60' },
    },
  })
/** 2026-11-23 is a Monday. */
const at = (time: string, type = 1) => ({ date_time: { type, value: `2026-11-23T${time}` } })

describe('a lower limit for certain hours', async () => {
  const roads = await town({ maxspeed: '60', 'maxspeed:conditional': '20 @ (22:00-06:00)' })

  it('sends traffic another way in those hours', () => {
    expect(roads.route('AD', at('23:00')).path).toBe('ABEFCD')
    expect(roads.route('AD', at('12:00')).path).toBe('ABCD')
    expect(roads.route('AD').path).toBe('ABCD')
    expect(roads.route('AD', { ...at('23:00'), costing: 'bicycle' }).path).toBe('ABCD')
  })

  it('counts in the time of who must drive there', () => {
    const by = (time: string) => roads.route('BC', at(time)).trip.summary.time
    const around = roads.route('BC', at('12:00')).trip.summary.time
    expect(by('12:00')).toBe(around)
    // 600 m at 20 and at 60 km/h; the way around has 1,000 m at 60 km/h.
    expect(around).toBeCloseTo(36, 0)
    expect(by('23:00')).toBeGreaterThan(55)
  })

  it('is no restriction that a summary tells of', () => {
    expect(roads.route('AD', at('12:00')).trip.summary.has_time_restrictions).toBe(false)
  })

  it('delays who must arrive in time, and the cells of a matrix', async () => {
    const straight = await drawTown({
      map: 'A---B-----------C---D',
      meters: 50,
      ways: {
        AB: { highway: 'secondary', maxspeed: '60' },
        BC: { highway: 'secondary', maxspeed: '60', 'maxspeed:conditional': '20 @ (22:00-06:00)' },
        CD: { highway: 'secondary', maxspeed: '60' },
      },
    })
    const seconds = (more: object) => straight.route('AD', { ...more }).trip.summary.time
    // 1,000 m at 60 km/h, 600 m of them at 20.
    expect(seconds(at('12:00'))).toBeCloseTo(60, -1)
    expect(seconds(at('23:00')) - seconds(at('12:00'))).toBeCloseTo(72, 0)
    expect(seconds(at('23:00', 2)) - seconds(at('12:00'))).toBeCloseTo(72, 0)
    expect(seconds({ ...at('21:59', 3) })).toBe(seconds(at('12:00')))
    const { sources_to_targets: cells } = straight.matrix('A', 'D', at('23:00'))
    expect(cells[0]![0]!.time).toBe(Math.round(seconds(at('23:00'))))
  })
})

it('a higher limit for certain hours draws traffic in those hours', async () => {
  const roads = await town({ maxspeed: '20', 'maxspeed:conditional': '60 @ (22:00-06:00)' })
  expect(roads.route('AD').path).toBe('ABEFCD')
  expect(roads.route('AD', at('12:00')).path).toBe('ABEFCD')
  expect(roads.route('AD', at('23:00')).path).toBe('ABCD')
})

it('no limit for certain hours is none then', async () => {
  const roads = await town({ maxspeed: '20', 'maxspeed:conditional': 'none @ (22:00-06:00)' })
  expect(roads.route('AD', at('23:00')).path).toBe('ABCD')
  expect(roads.route('AD', at('12:00')).path).toBe('ABEFCD')
})

it('a limit for certain hours may be for lorries alone, or for one direction', async () => {
  const lorries = await town({ maxspeed: '60', 'maxspeed:hgv:conditional': '20 @ (22:00-06:00)' })
  expect(lorries.route('AD', { ...at('23:00'), costing: 'truck' }).path).toBe('ABEFCD')
  expect(lorries.route('AD', at('23:00')).path).toBe('ABCD')
  const forward = await town({ maxspeed: '60', 'maxspeed:forward:conditional': '20 @ (22:00-06:00)' })
  expect(forward.route('AD', at('23:00')).path).toBe('ABEFCD')
  expect(forward.route('DA', at('23:00')).path).toBe('DCBA')
})

it('a limit in the wet says nothing of the hour', async () => {
  const roads = await town({ maxspeed: '60', 'maxspeed:conditional': '20 @ wet' })
  expect(roads.route('AD', at('23:00')).path).toBe('ABCD')
})
