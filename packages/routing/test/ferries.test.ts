import { MODES } from '../src/index.ts'
import { describe, expect, it } from 'vitest'

import { drawTown } from './support/ascii-map.ts'

const MAP = `
  A----B~~~~~~~~C----D
       |        |
       |        |
       E~~~~~~~~F
`

const strait = (there: Readonly<Record<string, string>>, back: Readonly<Record<string, string>>) =>
  drawTown({
    map: MAP,
    meters: 20,
    ways: {
      AB: { highway: 'residential' },
      BC: there,
      CD: { highway: 'residential' },
      BE: { highway: 'residential' },
      EF: back,
      FC: { highway: 'residential' },
    },
  })

describe.each(MODES)('a ferry that sails one way carries %s that way only', (costing) => {
  it.each([
    [
      { route: 'ferry', oneway: 'yes' },
      { route: 'ferry', oneway: '-1' },
    ],
    [
      { route: 'shuttle_train', railway: 'rail', oneway: 'yes' },
      { route: 'ferry', oneway: '-1' },
    ],
  ])('%j', async (there, back) => {
    const town = await strait(there, back)
    expect(town.route('AD', { costing }).path).toBe('ABCD')
    expect(town.route('DA', { costing }).path).toBe('DCFEBA')
  })

  it('and both ways where nothing says so', async () => {
    const town = await strait({ route: 'ferry' }, { route: 'ferry', oneway: '-1' })
    expect(town.route('DA', { costing }).path).toBe('DCBA')
  })
})

describe('walkers', () => {
  it('are let back by a tag of their own', async () => {
    const town = await strait({ route: 'ferry', oneway: 'yes', 'oneway:foot': 'no' }, { route: 'ferry', oneway: '-1' })
    expect(town.route('DA', { costing: 'pedestrian' }).path).toBe('DCBA')
    expect(town.route('DA', { costing: 'auto' }).path).toBe('DCFEBA')
  })

  it('ride moving stairs the way they move', async () => {
    const stairs = await strait({ highway: 'steps', conveying: 'forward' }, { highway: 'steps', conveying: 'backward' })
    expect(stairs.route('AD', { costing: 'pedestrian' }).path).toBe('ABCD')
    expect(stairs.route('DA', { costing: 'pedestrian' }).path).toBe('DCFEBA')
  })
})
