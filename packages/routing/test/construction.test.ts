import { describe, expect, it } from 'vitest'

import { drawTown, type Drawing } from './support/ascii-map.ts'

const road = { highway: 'residential' }
/** The short way from A to D is under construction, and so is the way to E. */
const town: Drawing = {
  map: 'A---B---C---D\n    |   |\n    F   E\n    |\n    G-----------H',
  meters: 40,
  ways: {
    AB: road,
    BC: { highway: 'construction', construction: 'residential', name: 'New Street' },
    CD: road,
    CE: { highway: 'construction', construction: 'footway' },
    BFGHD: road,
  },
}
const ignoring = (costing: string) => ({ costing, costing_options: { [costing]: { ignore_construction: true } } })

describe('streets under construction', async () => {
  const kept = await drawTown({ ...town, construction: true })

  it('are used by who ignores that they are, as what they are to become', () => {
    expect(kept.route('AD', ignoring('auto')).path).toBe('ABCD')
    expect(kept.route('AE', ignoring('pedestrian')).path).toBe('ABCE')
    expect(kept.route('AE', ignoring('auto')).path).toBe('ABC')
  })

  it('are used by no other request', () => {
    expect(kept.route('AD').path).toBe('ABFGHD')
    expect(kept.route('AD', { costing: 'pedestrian' }).path).toBe('ABFGHD')
    expect(kept.route('AD', { costing_options: { auto: { ignore_access: true } } }).path).toBe('ABFGHD')
  })

  it('are in no network that is built without them, which says so', async () => {
    const { trip, path } = (await drawTown(town)).route('AD', ignoring('auto'))
    expect(path).toBe('ABFGHD')
    expect(trip.warnings).toMatchObject([{ text: expect.stringContaining('without streets under construction') }])
    expect(kept.route('AD', ignoring('auto')).trip.warnings).toBeUndefined()
  })
})
