import { describe, expect, it } from 'vitest'

import type { Mode } from '../src/index.ts'
import { TIPS } from './scenarios/crossings.ts'
import { type AsciiTown, drawTown } from './support/ascii-map.ts'

/** A crossing X with arms in all directions; each town has the arm of arrival and two others. */
const MAP = `
 A  B  C

D   X   E

 F  G  H
`.slice(1)

/** The arm that each turn from G leads to, and the other arm. */
const TURNS = [
  ['straight', 'B', 'E'],
  ['slightRight', 'C', 'B'],
  ['right', 'E', 'B'],
  ['sharpRight', 'H', 'B'],
  ['sharpLeft', 'F', 'B'],
  ['left', 'D', 'B'],
  ['slightLeft', 'A', 'B'],
] as const

/**
 * Cost and seconds from G over X by turn, in the order of `TURNS`, where one drives on the left: as Valhalla 3.6.1 without
 * boundaries of countries answered on the same maps.
 */
const ON_THE_LEFT: readonly (readonly [readonly Mode[], readonly (readonly [cost: number, seconds: number])[]])[] = [
  [
    ['auto', 'bus', 'taxi', 'truck', 'motorcycle'],
    [
      [19.964, 15.857],
      [22.55, 18.301],
      [25.964, 21.234],
      [30.8, 25.456],
      [24.8, 24.99],
      [21.464, 17.945],
      [22.55, 18.087],
    ],
  ],
  [
    ['bicycle'],
    [
      [135.554, 48.45],
      [153.199, 55.2],
      [148.146, 51],
      [172.625, 58.5],
      [154.658, 55.5],
      [137.452, 48.9],
      [150.861, 54.599],
    ],
  ],
  [
    ['pedestrian'],
    [
      [174.411, 169.411],
      [195.588, 190.588],
      [174.411, 169.411],
      [195.588, 190.588],
      [195.588, 190.588],
      [174.411, 169.411],
      [195.588, 190.588],
    ],
  ],
  [
    ['motor_scooter'],
    [
      [37.22, 19.217],
      [41.15, 21.901],
      [43.22, 24.594],
      [49.4, 29.056],
      [43.4, 28.59],
      [38.72, 21.305],
      [41.15, 21.687],
    ],
  ],
]

describe.each(TURNS)('a turn: %s', async (_, to, beside) => {
  const draw = (drivingSide: 'left' | 'right', letters: readonly [string, string]): Promise<AsciiTown> =>
    drawTown({
      map: MAP,
      meters: 30,
      drivingSide,
      ways: {
        GX: { highway: 'secondary', name: 'from' },
        [`X${letters[0]}`]: { highway: 'tertiary', name: 'to' },
        [`X${letters[1]}`]: { highway: 'secondary', name: 'other' },
      },
    })
  const left = await draw('left', [to, beside])
  const right = await draw('right', [mirrored(to), mirrored(beside)])
  const turn = TURNS.findIndex(([, target]) => target === to)

  it.each(ON_THE_LEFT.flatMap(([modes, turns]) => modes.map((mode) => [mode, turns[turn]!] as const)))(
    'costs %s what it does in Valhalla on the left, and its mirror image the same on the right',
    (costing, [cost, seconds]) => {
      const { summary } = left.route(`G${to}`, { costing }).trip
      expect(summary.cost).toBeCloseTo(cost, 2)
      expect(summary.time).toBeCloseTo(seconds, 2)
      const image = right.route(`G${mirrored(to)}`, { costing }).trip.summary
      expect(image.cost).toBeCloseTo(cost, 2)
      // Angles are whole degrees, which a mirror shifts by one.
      expect(Math.abs(image.time - seconds)).toBeLessThan(0.1)
    },
  )
})

/** The arm across from an arm, seen from G to B. */
function mirrored(letter: string): string {
  const pairs: Readonly<Record<string, string>> = { A: 'C', C: 'A', D: 'E', E: 'D', F: 'H', H: 'F' }
  return pairs[letter] ?? letter
}

it('turns of a crossing have a place for each pair of its streets and no more', async () => {
  const { network } = await drawTown({
    map: MAP,
    ways: Object.fromEntries(['AX', 'XB', 'CX', 'XDG', 'GF'].map((way) => [way, { highway: 'residential' }])),
  })
  const { firstEdge, firstTurn, turnInfo, nodeCount } = network.graph
  const streets = Array.from({ length: nodeCount }, (_, node) => firstEdge[node + 1]! - firstEdge[node]!)
  expect(firstTurn).toHaveLength(nodeCount + 1)
  expect(turnInfo).toHaveLength(streets.reduce((sum, count) => sum + count * count, 0))
})

describe('turning around where two carriageways become one', async () => {
  const draw = (drivingSide: 'left' | 'right', there: string, back: string): Promise<AsciiTown> => {
    const road = { highway: 'primary', name: 'Long Road' }
    return drawTown({
      map: 'A---------\n          X----E\nB---------',
      meters: 30,
      drivingSide,
      ways: { [`${there}X`]: { ...road, oneway: 'yes' }, [`X${back}`]: { ...road, oneway: 'yes' }, XE: road },
    })
  }
  const left = await draw('left', 'A', 'B')
  const right = await draw('right', 'B', 'A')

  // Answers of Valhalla 3.6.1 with left-hand traffic; a U-turn costs 15 times a sharp turn.
  it.each(['auto', 'truck', 'motorcycle', 'motor_scooter', 'bus', 'taxi', 'bicycle'])(
    'costs %s the same on the right as on the left, and much more than going on',
    (costing) => {
      const around = left.route('AB', { costing }).trip.summary
      const image = right.route('BA', { costing }).trip.summary
      expect(image.cost).toBeCloseTo(around.cost, 2)
      expect(image.length).toBe(around.length)
      expect(around.cost).toBeGreaterThan(left.route('AE', { costing }).trip.summary.cost)
    },
  )
})

describe.each(Object.entries(TIPS))('turning around at the tip %s', async (_, [map, meters]) => {
  const road = { highway: 'primary', name: 'Long Road' }
  const draw = (drivingSide: 'left' | 'right', drawing: string): Promise<AsciiTown> =>
    drawTown({
      map: drawing,
      meters,
      drivingSide,
      ways: { AX: { ...road, oneway: 'yes' }, XB: { ...road, oneway: 'yes' }, XE: road },
    })
  const left = await draw('left', map)
  const right = await draw('right', map.split('\n').toReversed().join('\n'))

  // Costs in countries that drive on the left are recorded with the scenarios of these maps.
  it.each(['auto', 'motor_scooter', 'bicycle'])('costs %s on the right what it does on the left', (costing) => {
    const { cost } = left.route('AB', { costing }).trip.summary
    expect(right.route('AB', { costing }).trip.summary.cost).toBeCloseTo(cost, 2)
  })
})
