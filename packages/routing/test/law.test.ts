import { describe, expect, it } from 'vitest'

import { MODES, type Mode } from '../src/index.ts'
import { drawTown } from './support/ascii-map.ts'
import { road, straight, type Tags } from './support/straight.ts'

// Rules of the road that the checker of the law found broken. Expected values from the OpenStreetMap wiki, by the page that is named.
/** Metres of a letter at which the way around costs any mode far more than the ten minutes of a gate. */
const FAR = 3000
const EVERYBODY = [...MODES]
const but = (...modes: Mode[]): Mode[] => EVERYBODY.filter((mode) => !modes.includes(mode))

describe('values of access keys mean the same for every key (Key:access)', () => {
  it.each<[Tags, Mode[]]>([
    [{ bicycle: 'customers' }, but('bicycle')],
    [{ psv: 'private' }, but('bus', 'taxi')],
    [{ hgv: 'delivery' }, but('truck')],
    [{ moped: 'customers' }, but('motor_scooter')],
    [{ bus: 'agricultural' }, but('bus')],
    [{ taxi: 'private;yes' }, EVERYBODY],
  ])('%j is passed by %j', async (street, want) => {
    expect(await straight({ street })).toEqual(want)
  })
})

describe('through traffic keeps out of private streets on foot and by bicycle (Key:access)', () => {
  it.each<[Tags, Mode[]]>([
    [{ access: 'private' }, []],
    [{ vehicle: 'private' }, ['pedestrian']],
    [{ access: 'private', foot: 'yes' }, ['pedestrian']],
  ])('%j is passed by %j, however far the way around is', async (street, want) => {
    expect(await straight({ street, meters: FAR })).toEqual(want)
  })

  it('at the hours that they are private', async () => {
    const street = { 'access:conditional': 'private @ (Sa,Su)' }
    expect(await straight({ street, meters: FAR }, { time: '2026-06-06T12:00' })).toEqual([])
  })
})

describe('directions', () => {
  it.each<[Tags, string, Mode[]]>([
    // Key:busway: the lane of a one-way street runs its way.
    [{ oneway: 'yes', busway: 'lane' }, 'DA', ['pedestrian']],
    [{ oneway: 'yes', busway: 'opposite_lane' }, 'DA', ['pedestrian', 'bus']],
    // Key:access: a key of access says nothing of the way that traffic runs.
    [{ oneway: 'yes', 'motor_vehicle:backward': 'yes' }, 'DA', ['pedestrian']],
    [{ oneway: '-1', 'access:forward': 'no' }, 'DA', EVERYBODY],
    // The more specific key counts in a direction, too.
    [{ 'motor_vehicle:forward': 'no', bus: 'yes' }, 'AD', ['bicycle', 'pedestrian', 'bus']],
  ])('%j along %s is passed by %j', async (street, path, want) => {
    expect((await straight({ street }, { path })).toSorted()).toEqual(want.toSorted())
  })
})

describe('conditions', () => {
  const saturday = '2026-06-06T12:00'
  it.each<[Tags, string, Mode[]]>([
    // Conditional restrictions: the exception of a one-way street opens nothing that access keys close.
    [{ 'oneway:conditional': 'no @ (Sa,Su)', 'access:forward': 'no' }, 'AD', []],
    // Of cases that hold together the last counts.
    [{ 'access:conditional': 'yes @ destination; no @ (Sa,Su)' }, 'AD', []],
    // A condition opens no lanes that are for others.
    [{ 'vehicle:lanes': 'no|no', 'access:conditional': 'yes @ (Sa,Su)' }, 'AD', ['pedestrian']],
    // A one-way key of a mode's own stands against the general one.
    [{ 'oneway:hgv': 'yes', 'oneway:conditional': '-1 @ (Sa,Su)' }, 'AD', ['pedestrian', 'truck']],
    // Through traffic keeps out at those hours.
    [{ 'access:conditional': 'private @ (Sa,Su)' }, 'AD', []],
  ])('%j along %s is passed on a Saturday by %j', async (street, path, want) => {
    expect((await straight({ street }, { path, time: saturday })).toSorted()).toEqual(want.toSorted())
  })

  it('a trip begins in the direction that is open at its hour', async () => {
    const town = await drawTown({
      map: `
        A-1-B---C
        |       |
        D-------E
      `,
      meters: 40,
      ways: { AB: { ...road, 'oneway:conditional': '-1 @ (Sa,Su)' }, BC: road, AD: road, DE: road, EC: road },
    })
    expect(town.route('1C', { date_time: { type: 1, value: saturday } }).path).toBe('1ADEC')
    expect(town.route('1C', { date_time: { type: 1, value: '2026-06-03T12:00' } }).path).toBe('1BC')
  })
})

describe('lanes, countries, gates and turns', () => {
  it('a street for vehicles with several people is closed to lorries without a key of their own (Key:hov)', async () => {
    expect(await straight({ street: { hov: 'designated', motor_vehicle: 'yes' } })).not.toContain('truck')
  })

  it('the default of a country opens nothing that tags close (Austria, trunk roads)', async () => {
    const trunk = { highway: 'trunk', 'vehicle:lanes': 'no|no', 'bus:lanes': 'yes|yes' }
    expect(await straight({ street: trunk, origin: { lon: 16.4, lat: 48.2 } })).toEqual(['bus'])
  })

  it('a bollard that cars may pass stops lorries and buses (Key:barrier)', async () => {
    const gate = { barrier: 'bollard', motorcar: 'yes' }
    expect((await straight({ gate })).toSorted()).toEqual(['auto', 'bicycle', 'pedestrian'])
  })

  it('a turn from which motorcars are excepted is forbidden to mopeds (Relation:restriction)', async () => {
    const town = await drawTown({
      map: `
        A---B---C
            |   |
            D---E
      `,
      meters: 40,
      ways: { AB: road, BC: road, BD: road, DE: road, EC: road },
      restrictions: [{ from: 'AB', via: 'B', to: 'BD', tags: { restriction: 'no_right_turn', except: 'motorcar' } }],
    })
    expect(town.route('AD', { costing: 'auto' }).path).toBe('ABD')
    expect(town.route('AD', { costing: 'motor_scooter' }).path).toBe('ABCED')
  })
})
