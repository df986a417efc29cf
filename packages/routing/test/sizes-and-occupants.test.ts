import { describe, expect, it } from 'vitest'

import { type AsciiTown, drawTown } from './support/ascii-map.ts'

const street = (name: string) => ({ highway: 'residential', name })

/** Two ways around from D to E: the short one over AB, which is tagged, and the long one over F and C. */
const square = (tags: Readonly<Record<string, string>>): Promise<AsciiTown> =>
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

/** The way from D to E with options of a costing. */
const way = (town: AsciiTown, costing: string, options: object = {}): string =>
  town.route('DE', { costing, costing_options: { [costing]: options } }).path

describe('what access keys close by size alone (wiki, Conditional restrictions; Valhalla reads hours only)', () => {
  it.each([
    [{ 'hgv:conditional': 'no @ (weight>7.5)' }, 'truck', { weight: 7.5 }, { weight: 7.6 }],
    [{ 'hgv:conditional': 'no @ (weight >= 7.5 t)' }, 'truck', { weight: 7.4 }, { weight: 7.5 }],
    [{ 'hgv:conditional': 'no @ (maxweightrating>7.5)' }, 'truck', { weight: 7.5 }, { weight: 7.6 }],
    [{ 'hgv:conditional': 'no @ (length>12)' }, 'truck', { length: 12 }, { length: 13 }],
    [{ 'hgv:conditional': 'no @ (axles>4)' }, 'truck', { axle_count: 4 }, { axle_count: 5 }],
    [{ 'motor_vehicle:conditional': 'no @ (height>3)' }, 'truck', { height: 3 }, { height: 3.1 }],
    [{ 'motor_vehicle:conditional': 'no @ (height>3)' }, 'auto', { height: 3 }, { height: 3.1 }],
    [{ 'access:conditional': 'no @ (weight>3.5)' }, 'truck', { weight: 3.5 }, { weight: 3.6 }],
    [{ 'hgv:forward:conditional': 'no @ (weight>7.5)' }, 'truck', { weight: 7.5 }, { weight: 7.6 }],
    [{ 'hgv:conditional': 'destination @ (weight>7.5)' }, 'truck', { weight: 7.5 }, { weight: 7.6 }],
    [{ 'hgv:conditional': 'no @ (weight>7.5 AND length>5)' }, 'truck', { weight: 7.5 }, { weight: 7.6, length: 6 }],
  ])('%j by %s', async (tags, costing, fits, breaks) => {
    const town = await square(tags)
    expect(way(town, costing, fits)).toBe(SHORT)
    expect(way(town, costing, breaks)).toBe(LONG)
    expect(way(town, 'bicycle')).toBe(SHORT)
  })

  it('binds the modes that no more specific key speaks of', async () => {
    const lorries = await square({ 'hgv:conditional': 'no @ (height>1)' })
    expect(way(lorries, 'auto')).toBe(SHORT)
    expect(way(lorries, 'truck')).toBe(LONG)
    const others = await square({ 'motor_vehicle:conditional': 'no @ (height>1)', hgv: 'yes' })
    expect(way(others, 'auto')).toBe(LONG)
    expect(way(others, 'truck')).toBe(SHORT)
  })

  it('is no bar to local traffic where a case says so', async () => {
    const town = await square({ 'hgv:conditional': 'no @ (weight>7.5); yes @ destination' })
    expect(way(town, 'truck')).toBe(LONG)
    expect(town.route('E1', { costing: 'truck' }).path).toBe('EB1')
  })

  it('counts in matrices too', async () => {
    const town = await square({ 'hgv:conditional': 'no @ (weight>7.5)' })
    const time = (weight: number): number =>
      town.matrix('D', 'E', { costing: 'truck', costing_options: { truck: { weight } } }).sources_to_targets[0]![0]!
        .time
    expect(time(20)).toBeGreaterThan(time(7))
  })
})

describe('turns that are forbidden by size alone (wiki, Relation:restriction, Conditional restrictions)', () => {
  const turning = (tags: Readonly<Record<string, string>>, via: string | readonly string[] = 'B'): Promise<AsciiTown> =>
    drawTown({
      map: 'A---B---C\n    |   |\n    |   |\nD---E---F\n    |\n    G---H',
      meters: 30,
      ways: {
        AB: street('a'),
        BC: street('b'),
        BE: street('via'),
        CF: street('c'),
        DE: street('d'),
        EF: street('f'),
        EGH: street('g'),
      },
      restrictions: [{ from: 'AB', via, to: via === 'B' ? 'BE' : 'DE', tags }],
    })

  it.each([
    [{ 'restriction:conditional': 'no_right_turn @ (weight>7.5)' }, 'truck', { weight: 7.5 }, { weight: 8 }],
    [{ 'restriction:conditional': 'no_right_turn @ (height>3)' }, 'auto', { height: 3 }, { height: 3.5 }],
    [{ 'restriction:hgv:conditional': 'no_right_turn @ (length>10)' }, 'truck', { length: 10 }, { length: 11 }],
    [{ 'restriction:conditional': 'none @ (weight>7.5); no_right_turn @ (axles>2)' }, 'truck', { axle_count: 2 }, {}],
  ])('%j by %s', async (tags, costing, fits, breaks) => {
    const town = await turning(tags)
    const path = (options: object): string =>
      town.route('AG', { costing, costing_options: { [costing]: options } }).path
    expect(path(fits)).toBe('ABEG')
    expect(path(breaks)).toBe('ABCFEG')
    expect(town.route('AG', { costing: 'bicycle' }).path).toBe('ABEG')
  })

  it.each([
    ['truck', { weight: 7.5 }, true],
    ['truck', { weight: 7.6 }, false],
    ['truck', {}, false],
    ['auto', {}, true],
    ['bicycle', {}, true],
  ])('bind over a way %s of %j as its weight has it', async (costing, options, passes) => {
    const town = await turning({ 'restriction:conditional': 'no_right_turn @ (weight>7.5)' }, ['BE'])
    const ask = { costing, costing_options: { [costing]: options } }
    expect(town.route('AD', ask).path === 'ABED').toBe(passes)
    expect(town.route('AG', ask).path).toBe('ABEG')
  })

  it('bind over a way in matrices and by each of several sizes', async () => {
    const tags = { 'restriction:conditional': 'no_right_turn @ (weight>7.5); no_right_turn @ (height>4)' }
    const town = await turning(tags, ['BE'])
    const time = (options: object): number =>
      town.matrix('A', 'D', { costing: 'truck', costing_options: { truck: options } }).sources_to_targets[0]![0]!.time
    const free = time({ weight: 7, height: 4 })
    expect(time({ weight: 8, height: 4 })).toBeGreaterThan(free)
    expect(time({ weight: 7, height: 4.1 })).toBeGreaterThan(free)
  })
})

describe('ways for vehicles that carry several people (wiki, Key:hov)', () => {
  const two = { hov: 'designated', 'hov:minimum': '2' }
  const three = { hov: 'designated', 'hov:minimum': '3' }

  it.each([
    [two, {}, LONG],
    [two, { include_hov2: true }, SHORT],
    [two, { include_hov3: true }, SHORT],
    [three, {}, LONG],
    [three, { include_hov2: true }, LONG],
    [three, { include_hov3: true }, SHORT],
    [{ hov: 'designated' }, { include_hov2: true }, LONG],
    [{ hov: 'designated' }, { include_hov3: true }, SHORT],
    [two, { include_hot: true }, LONG],
    [{ ...two, toll: 'yes' }, { include_hot: true }, SHORT],
    [{ ...two, 'hov:lanes': 'designated|designated' }, {}, LONG],
    [{ ...two, 'hov:lanes': 'designated||' }, {}, SHORT],
    [{ ...two, motorcar: 'yes' }, {}, SHORT],
    [{ ...two, access: 'no' }, {}, LONG],
    [{ ...two, access: 'no' }, { include_hov2: true }, SHORT],
    [{ hov: 'yes', 'hov:minimum': '2' }, {}, SHORT],
  ])('%j with %j', async (tags, options, path) => {
    const town = await square(tags)
    expect(way(town, 'auto', options)).toBe(path)
    expect(way(town, 'taxi', options)).toBe('motorcar' in tags ? LONG : path)
  })

  it('are for buses and motorcycles, but not for lorries, riders and walkers without a tag of their own', async () => {
    const town = await square(two)
    expect(['bus', 'motorcycle'].map((costing) => way(town, costing))).toEqual([SHORT, SHORT])
    expect(['truck', 'bicycle', 'pedestrian'].map((costing) => way(town, costing))).toEqual([LONG, LONG, LONG])
    const tagged = await square({ ...two, hgv: 'yes', bicycle: 'yes', foot: 'yes' })
    expect(['truck', 'bicycle', 'pedestrian'].map((costing) => way(tagged, costing))).toEqual([SHORT, SHORT, SHORT])
  })
})
