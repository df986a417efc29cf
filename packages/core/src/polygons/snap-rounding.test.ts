import { expect, test } from 'vitest'
import { seededRandom } from '../random.ts'
import { Path } from './path.ts'
import { Grid, snappedRing } from './snap-rounding.ts'

test('a segment is led through exactly the nodes whose pixel it passes, by brute force in whole numbers', () => {
  const random = seededRandom(1)
  const whole = (below: number) => Math.floor(random() * below)
  for (let i = 0; i < 400; i++) {
    const size = 2 + whole(14)
    const [ax, ay, bx, by] = [whole(size), whole(size), whole(size), whole(size)]
    const grid = new Grid()
    for (let k = 0; k < 3 * size; k++) grid.node(whole(size), whole(size))
    grid.node(ax, ay)
    grid.node(bx, by)
    grid.sort()
    const path = new Path()
    path.xy.set([ax, ay, bx, by])
    const found = new Set(snappedRing(path, 0, 4, grid))
    const passed = grid.xs.keys().filter((id) => passes([ax, ay, bx, by], grid.xs[id]!, grid.ys[id]!))
    expect(
      [...found].toSorted((a, b) => a - b),
      `${ax} ${ay} ${bx} ${by}`,
    ).toEqual([...passed])
  }
})

/**
 * Whether a segment has a point in the pixel [x - 1/2, x + 1/2) × [y - 1/2, y + 1/2). The part within begins and ends
 * at an end of the segment or on a line through an edge, so these places and the middles between them are tested.
 */
function passes([ax, ay, bx, by]: readonly [number, number, number, number], x: number, y: number): boolean {
  const places: [number, number][] = [
    [0, 1],
    [1, 1],
  ]
  for (const [from, to, at] of [
    [ax, bx, x],
    [ay, by, y],
  ] as const) {
    const length = 2 * Math.abs(to - from)
    if (length === 0) continue
    for (const edge of [2 * at - 1, 2 * at + 1]) places.push([(edge - 2 * from) * Math.sign(to - from), length])
  }
  const within = places.filter(([n, d]) => n >= 0 && n <= d).toSorted(([n, d], [m, e]) => n * e - m * d)
  const middles = within.slice(1).map(([n, d], i): [number, number] => {
    const [m, e] = within[i]!
    return [n * e + m * d, 2 * d * e]
  })
  return [...within, ...middles].some(([n, d]) => {
    const px = 2 * (ax * d + (bx - ax) * n)
    const py = 2 * (ay * d + (by - ay) * n)
    return px >= (2 * x - 1) * d && px < (2 * x + 1) * d && py >= (2 * y - 1) * d && py < (2 * y + 1) * d
  })
}
