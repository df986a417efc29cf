import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

const residential = { highway: 'residential' }

/** A stub AB beside a street CDE; whoever leaves the stub may only go straight on, into a street closed to cars. */
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

  it('is put on the stub where it binds somebody else', async () => {
    const town = await stub({ restriction: 'only_straight_on', except: 'motorcar' })
    expect(town.route('1E').path).toBe('ABGHE')
  })
})
