import { describe, expect, it } from 'vitest'

import { type AsciiTown, type Drawing, drawTown } from './support/ascii-map.ts'

// Expected values are from OpenStreetMap's wiki, page Key:access: the most specific key of the transport mode hierarchy
// counts (access → vehicle → motor_vehicle → motorcar …), and a value that names a mode closes the way to all others.

const street = (name: string) => ({ highway: 'residential', name })

/** Two ways around from D to E: the short one over AB, which is tagged, and the long one over F and C. */
const square = (tags: Readonly<Record<string, string>>, more: Partial<Drawing> = {}): Promise<AsciiTown> =>
  drawTown({
    map: 'A-----B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C',
    meters: 30,
    ...more,
    ways: {
      AB: { ...street('North Street'), ...tags },
      BE: street('East Street'),
      BC: street('Middle Street'),
      FC: street('South Street'),
      ADF: street('West Street'),
      ...more.ways,
    },
  })

const SHORT = 'DABE'
const LONG = 'DFCBE'
const ALL = ['auto', 'truck', 'motorcycle', 'motor_scooter', 'bus', 'taxi', 'bicycle', 'pedestrian']

/** Modes that take the short way. */
function passing(town: AsciiTown): string[] {
  return ALL.filter((costing) => {
    const { path } = town.route('DE', { costing })
    expect([SHORT, LONG], costing).toContain(path)
    return path === SHORT
  })
}

describe('a value that names a mode closes the way to all others (wiki, Key:access)', () => {
  it.each([
    [{ access: 'bus' }, ['bus']],
    [{ access: 'taxi' }, ['taxi']],
    [{ access: 'psv' }, ['bus', 'taxi']],
    [{ access: 'bus;taxi' }, ['bus', 'taxi']],
    [{ access: 'bus; taxi' }, ['bus', 'taxi']],
    [{ access: 'no', foot: 'no; designated' }, ['pedestrian']],
    [{ access: 'military' }, []],
    [{ access: 'bus', bicycle: 'yes', foot: 'yes' }, ['bus', 'bicycle', 'pedestrian']],
    [{ access: 'psv', taxi: 'no' }, ['bus']],
    [{ motor_vehicle: 'bus' }, ['bus', 'bicycle', 'pedestrian']],
    [{ motor_vehicle: 'taxi' }, ['taxi', 'bicycle', 'pedestrian']],
    [{ vehicle: 'bus' }, ['bus', 'pedestrian']],
    [{ 'access:forward': 'bus' }, ['bus']],
  ])('%j is for %j', async (tags, modes) => {
    expect(passing(await square(tags))).toEqual(modes)
  })

  it.each([
    ['access', 'bus', ['bus']],
    ['motor_vehicle', 'psv', ['bus', 'taxi', 'bicycle', 'pedestrian']],
  ])('on a gate with %s=%s too', async (key, value, modes) => {
    const town = await drawTown({
      map: 'A--x--B--E\n|     |\n|     |\nD-----C',
      meters: 30,
      ways: { AxB: street('a'), BE: street('e'), BC: street('b'), DC: street('c'), AD: street('d') },
      nodes: { x: { barrier: 'gate', [key]: value } },
    })
    const passes = (costing: string): boolean => town.route('AE', { costing }).path === 'AxBE'
    expect(ALL.filter(passes)).toEqual(modes)
  })

  it('at certain hours as well', async () => {
    const town = await square({ 'motor_vehicle:conditional': 'bus @ (07:00-09:00)' })
    const at = (costing: string, time: string): string =>
      town.route('DE', { costing, date_time: { type: 1, value: `2026-11-23T${time}` } }).path
    expect(at('auto', '08:00')).toBe(LONG)
    expect(at('bus', '08:00')).toBe(SHORT)
    expect(at('auto', '12:00')).toBe(SHORT)
  })
})

const VEHICLES = ['auto', 'truck', 'motorcycle', 'motor_scooter', 'bus', 'taxi', 'bicycle']

describe('the key vehicle stands between access and motor_vehicle (wiki, Key:access; Valhalla 5802)', () => {
  it.each([
    [{ access: 'no', vehicle: 'yes' }, VEHICLES],
    [{ vehicle: 'no' }, ['pedestrian']],
    [{ vehicle: 'no', motor_vehicle: 'yes' }, [...VEHICLES.filter((mode) => mode !== 'bicycle'), 'pedestrian']],
    [{ vehicle: 'yes', motor_vehicle: 'no' }, ['bicycle', 'pedestrian']],
    [{ access: 'yes', vehicle: 'no', bicycle: 'yes' }, ['bicycle', 'pedestrian']],
    [{ vehicle: 'yes', smoothness: 'impassable' }, []],
    [
      { motorroad: 'yes', vehicle: 'yes' },
      ALL.filter((mode) => !['motor_scooter', 'bicycle', 'pedestrian'].includes(mode)),
    ],
  ])('%j is for %j', async (tags, modes) => {
    expect(passing(await square(tags))).toEqual(modes)
  })

  it('opens no motorway to riders', async () => {
    const town = await square({ highway: 'motorway', vehicle: 'yes' })
    expect(town.route('DE', { costing: 'bicycle' }).path).toBe(LONG)
    expect(town.route('DE', { costing: 'motor_scooter' }).path).toBe(LONG)
  })

  it.each([
    { access: 'no', vehicle: 'destination' },
    { highway: 'pedestrian', vehicle: 'yes' },
    { highway: 'pedestrian', vehicle: 'destination' },
    { route: 'ferry', access: 'no', vehicle: 'yes' },
  ])('leads to what only %j opens', async (tags) => {
    const ways = { AB: street('Main Street'), BC: 'route' in tags ? tags : { highway: 'service', ...tags } }
    const town = await drawTown({ map: 'A---B---C', meters: 60, ways })
    for (const costing of VEHICLES) expect(town.route('AC', { costing }).path).toBe('ABC')
  })

  it.each([
    [{ vehicle: 'yes' }, 'AxBE'],
    [{ motor_vehicle: 'yes', bicycle: 'yes' }, 'AxBE'],
    [{ vehicle: 'no' }, 'ADCBE'],
  ])('says who passes a bollard or a gate: %j', async (tags, path) => {
    for (const barrier of ['bollard', 'gate']) {
      const town = await drawTown({
        map: 'A--x--B--E\n|     |\n|     |\nD-----C',
        meters: 300,
        ways: { AxB: street('a'), BE: street('e'), BC: street('b'), DC: street('c'), AD: street('d') },
        nodes: { x: { barrier, ...tags } },
      })
      for (const costing of VEHICLES) expect(town.route('AE', { costing }).path, costing).toBe(path)
      expect(town.route('AE', { costing: 'pedestrian' }).path).toBe('AxBE')
    }
  })
})

describe('a street for those with business there is so for the modes that the most specific key says (wiki, Key:access)', () => {
  const MOTORS = VEHICLES.filter((mode) => mode !== 'bicycle')
  it.each([
    [{ vehicle: 'destination' }, ['pedestrian']],
    [{ vehicle: 'private' }, ['pedestrian']],
    [{ motor_vehicle: 'destination' }, ['bicycle', 'pedestrian']],
    [{ motor_vehicle: 'private' }, ['bicycle', 'pedestrian']],
    [{ motorcar: 'destination' }, ALL.filter((mode) => mode !== 'auto')],
    [{ hgv: 'destination' }, ALL.filter((mode) => mode !== 'truck')],
    [{ access: 'private', foot: 'yes' }, ['pedestrian']],
    [{ access: 'destination', bicycle: 'yes', foot: 'yes' }, ['bicycle', 'pedestrian']],
    [{ vehicle: 'destination', bicycle: 'yes' }, ['bicycle', 'pedestrian']],
    [{ vehicle: 'destination', bicycle_road: 'yes' }, ['bicycle', 'pedestrian']],
    [{ motor_vehicle: 'destination', bus: 'yes' }, ['bus', 'bicycle', 'pedestrian']],
    [{ access: 'private', motor_vehicle: 'yes' }, MOTORS],
    [{ bicycle: 'private' }, ALL.filter((mode) => mode !== 'bicycle')],
    [{ 'motor_vehicle:forward': 'destination' }, ['bicycle', 'pedestrian']],
    [{ 'motor_vehicle:backward': 'destination' }, ALL],
  ])('%j is passed by %j', async (tags, modes) => {
    expect(passing(await square(tags))).toEqual(modes)
  })

  it('and is reached by all', async () => {
    const town = await square(
      { vehicle: 'destination' },
      { map: 'A--1--B-----E\n|     |\nD     |\n|     |\n|     |\n|     |\nF-----C' },
    )
    for (const costing of ALL) expect(town.route('1E', { costing }).path).toBe('1BE')
  })

  it('a gate that is private for cars is none for walkers', async () => {
    const town = await drawTown({
      map: 'A--x--B--E\n|     |\n|     |\nD-----C',
      meters: 30,
      ways: { AxB: street('a'), BE: street('e'), BC: street('b'), DC: street('c'), AD: street('d') },
      nodes: { x: { barrier: 'gate', access: 'private', foot: 'yes', bicycle: 'yes' } },
    })
    for (const costing of ['pedestrian', 'bicycle']) expect(town.route('AE', { costing }).path, costing).toBe('AxBE')
    expect(town.route('AE').path).toBe('ADCBE')
  })
})
