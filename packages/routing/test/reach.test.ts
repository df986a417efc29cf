import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

const residential = { highway: 'residential' }

/** A stub AB beside a street CDE; a vehicle that leaves the stub may only go straight on, into a street closed to cars. */
describe('a place beside a stub that turn restrictions close', async () => {
  const stub = (restriction: Readonly<Record<string, string>>) =>
    drawTown({
      map: `
        1
        A
        |
        B---G---H
        |   |   |
        K   D---E
        |   |
        F---C
      `,
      meters: 12,
      ways: {
        AB: { ...residential, oneway: 'yes' },
        BK: { highway: 'pedestrian' },
        KF: { highway: 'pedestrian' },
        BGH: residential,
        GD: residential,
        HE: residential,
        DE: residential,
        FCD: residential,
      },
      restrictions: [{ from: 'AB', via: 'B', to: 'BK', tags: restriction }],
    })

  it('is put on the next street that leads somewhere', async () => {
    const town = await stub({ restriction: 'only_straight_on' })
    const from = { ...town.at('1'), minimum_reachability: 3 }
    for (const costing of ['auto', 'bus', 'taxi', 'truck', 'motorcycle', 'motor_scooter']) {
      expect(town.answer([from, town.at('E')], { costing }).path).toBe('BGHE')
    }
    expect(() => town.route('1E')).toThrow('No path could be found for input')
  })

  it('is put on the stub where it binds other modes', async () => {
    const town = await stub({ restriction: 'only_straight_on', except: 'motorcar' })
    expect(town.route('1E').path).toBe('ABGHE')
  })
})

/** A net of streets between B and G, the one-way Out that only leads away from it, and the one-way In that only leads to it. */
describe('a place beside a street that traffic passes one way', async () => {
  const town = await drawTown({
    map: `
        1       2
      A---B---C---D
          |   |
          E---F
          |   |
          G---H
    `,
    meters: 30,
    ways: {
      CD: { ...residential, oneway: 'yes' },
      AB: { ...residential, oneway: 'yes' },
      BC: residential,
      BEG: residential,
      CFH: residential,
      EF: residential,
      GH: residential,
    },
  })
  const at = (place: string) => ({ ...town.at(place), minimum_reachability: 4 })

  it('may begin a route where none arrives, and end one where none goes on', () => {
    const { path, trip } = town.answer([at('1'), at('2')])
    expect(path).toBe('BC')
    expect(trip.summary.length).toBeCloseTo(0.24, 2)
    expect(town.answer([at('1'), at('G')]).trip.summary.length).toBeCloseTo(0.3, 2)
    expect(town.answer([at('G'), at('2')]).trip.summary.length).toBeCloseTo(0.42, 2)
  })

  it('is left out where the route would not lead on or arrive', () => {
    expect(town.answer([at('2'), at('G')]).trip.summary.length).toBeCloseTo(0.36, 2)
    expect(town.answer([at('G'), at('1')]).trip.summary.length).toBeCloseTo(0.24, 2)
  })
})
