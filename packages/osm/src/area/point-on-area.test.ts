import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { AreaAssembler } from './assemble.ts'
import { pointOnArea } from './point-on-area.ts'

const assembler = new AreaAssembler()

function add(points: readonly (readonly [number, number])[]): void {
  const ring = [...points, points[0]!]
  assembler.addLine(Int32Array.from(ring, ([x]) => x), Int32Array.from(ring, ([, y]) => y), 0, ring.length) // prettier-ignore
}

test('of a square its centre', () => {
  assembler.start()
  add([[0, 0], [10, 0], [10, 10], [0, 10]]) // prettier-ignore
  assembler.assemble()
  expect(pointOnArea(assembler)).toEqual([5, 5])
})

test('of two polygons one in the larger', () => {
  assembler.start()
  add([[0, 0], [10, 0], [10, 10], [0, 10]]) // prettier-ignore
  add([[100, 0], [140, 0], [140, 40], [100, 40]]) // prettier-ignore
  assembler.assemble()
  expect(pointOnArea(assembler)).toEqual([120, 20])
})

test('of a horseshoe and of a ring one in the flesh', () => {
  assembler.start()
  add([[0, 0], [90, 0], [90, 90], [80, 90], [80, 10], [10, 10], [10, 90], [0, 90]]) // prettier-ignore
  assembler.assemble()
  const [x, y] = pointOnArea(assembler)
  expect(y).toBeGreaterThan(10)
  expect((x > 0 && x < 10) || (x > 80 && x < 90)).toBe(true)
  assembler.start()
  add([[0, 0], [90, 0], [90, 90], [0, 90]]) // prettier-ignore
  add([[10, 10], [60, 10], [60, 60], [10, 60]]) // prettier-ignore
  assembler.assemble()
  const [ringX] = pointOnArea(assembler)
  expect(ringX > 60 && ringX < 90).toBe(true)
})

test('of random stars always one within them', async () => {
  await randomCases(500, (random, seed) => {
    const corners = 3 + (seed % 20)
    const star = Array.from({ length: corners }, (_, i): [number, number] => {
      const angle = (i / corners) * 2 * Math.PI
      const radius = 1e3 + random() * 1e6
      return [Math.round(5e8 + Math.cos(angle) * radius), Math.round(Math.sin(angle) * radius)]
    })
    assembler.start()
    add(star)
    expect(assembler.assemble()).toBeNull()
    const [x, y] = pointOnArea(assembler)
    let inside = false
    for (let i = 1; i < assembler.ringStart[1]!; i++) {
      const [ax, ay, bx, by] = [assembler.lon[i - 1]!, assembler.lat[i - 1]!, assembler.lon[i]!, assembler.lat[i]!]
      if (ay > y !== by > y && x < ((bx - ax) * (y - ay)) / (by - ay) + ax) inside = !inside
    }
    expect(inside).toBe(true)
  })
})
