import { describe, expect, test } from 'vitest'
import { WORLD, worldX, worldY } from '../world.ts'
import type { Shape } from './shape.ts'
import { WkbReader } from './wkb.ts'

/** Bytes from a list of [type, value]; the byte order mark says how the rest is written. */
function wkb(little: boolean, ...items: (['u8' | 'u32' | 'f64', number] | 'order')[]): Uint8Array {
  const bytes = new Uint8Array(1000)
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const item of items) {
    if (item === 'order') view.setUint8(at++, little ? 1 : 0)
    else if (item[0] === 'u8') view.setUint8(at++, item[1])
    else if (item[0] === 'u32') {
      view.setUint32(at, item[1], little)
      at += 4
    } else {
      view.setFloat64(at, item[1], little)
      at += 8
    }
  }
  return bytes.slice(0, at)
}

const u32 = (value: number): ['u32', number] => ['u32', value]
const xy = (...values: number[]): ['f64', number][] => values.map((value) => ['f64', value])

function read(bytes: Uint8Array) {
  const reader = new WkbReader()
  const drawn = reader.read(bytes, 0, bytes.length, 0)
  return { drawn, reader }
}

function degreesOf(shape: Shape): number[][] {
  return Array.from({ length: shape.size }, (_, i) => [
    Math.round((shape.xy[2 * i]! / WORLD - 0.5) * 360 * 1e5) / 1e5,
    shape.xy[2 * i + 1] === Math.round(worldY(10)) ? 10 : Number.NaN,
  ])
}

describe.each([{ little: true }, { little: false }])('with byte order $little', ({ little }) => {
  test.each([
    { name: 'OGC', type: 2, extra: [] },
    { name: 'ISO Z', type: 1002, extra: [7] },
    { name: 'ISO M', type: 2002, extra: [7] },
    { name: 'ISO ZM', type: 3002, extra: [7, 8] },
    { name: 'EWKB Z', type: 0x80000002, extra: [7] },
    { name: 'EWKB M', type: 0x40000002, extra: [7] },
    { name: 'EWKB ZM', type: 0xc0000002, extra: [7, 8] },
  ])('a line in $name is read, further dimensions are not', ({ type, extra }) => {
    const { reader } = read(wkb(little, 'order', u32(type), u32(2), ...xy(1, 10, ...extra, 2, 10, ...extra)))
    expect(degreesOf(reader.lines)).toEqual([
      [1, 10],
      [2, 10],
    ])
    expect([reader.west, reader.south, reader.east, reader.north]).toEqual([1, 10, 2, 10])
  })

  test('EWKB with an SRID is read when it is 4326', () => {
    const head = (srid: number) => wkb(little, 'order', u32(0x20000001), u32(srid), ...xy(3, 10))
    expect(degreesOf(read(head(4326)).reader.points)).toEqual([[3, 10]])
    expect(() => read(head(3857))).toThrow('its SRID is 3857, not 4326')
  })
})

test('rings lose their closing vertex and repeated vertices; holes that collapse are left out', () => {
  const ring = xy(0, 0, 4, 0, 4, 0, 4, 4, 0, 0)
  const speck = xy(1, 1, 1.000000001, 1, 1, 1, 1, 1)
  const { reader } = read(wkb(true, 'order', u32(3), u32(2), u32(5), ...ring, u32(4), ...speck))
  expect(reader.polygons.parts).toBe(1)
  expect(reader.polygons.size).toBe(3)
})

test('empty geometries of every kind draw nothing', () => {
  for (const type of [2, 3, 4, 5, 6, 7, 15, 16, 17])
    expect(read(wkb(true, 'order', u32(type), u32(0))).drawn).toBe(false)
  expect(read(wkb(true, 'order', u32(1), ...xy(Number.NaN, Number.NaN))).drawn).toBe(false)
  expect(read(new Uint8Array(0)).drawn).toBe(false)
})

test('longitudes beyond 180 are shifted onto the world, a feature as a whole', () => {
  const { reader } = read(wkb(true, 'order', u32(2), u32(2), ...xy(190, 10, 200, 10)))
  expect(reader.lines.xy[0]).toBe(Math.round(worldX(-170)))
  expect(read(wkb(true, 'order', u32(1), ...xy(540, 0))).drawn).toBe(false)
  expect(read(wkb(true, 'order', u32(1), ...xy(0, 90.5))).drawn).toBe(false)
})

test.each([
  { name: 'a cut off header', bytes: [1, 2, 0], problem: 'ends too early' },
  { name: 'a count that lies', bytes: [1, 2, 0, 0, 0, 255, 255, 255, 255], problem: 'ends too early' },
  { name: 'an unknown byte order', bytes: [7, 1, 0, 0, 0], problem: 'byte order is 7' },
  { name: 'a curve', bytes: [1, 8, 0, 0, 0, 0, 0, 0, 0], problem: 'type 8' },
  { name: 'bytes after the end', bytes: [1, 2, 0, 0, 0, 0, 0, 0, 0, 9], problem: 'bytes follow' },
])('$name is an error that names the row', ({ bytes, problem }) => {
  const reader = new WkbReader()
  const act = () => reader.read(Uint8Array.from(bytes), 0, bytes.length, 41)
  expect(act).toThrow('row 41')
  expect(act).toThrow(problem)
})

test('collections nested without end are an error, not a crash', () => {
  const levels = Array.from({ length: 100 }, () => ['order', u32(7), u32(1)] as const).flat()
  expect(() => read(wkb(true, ...levels))).toThrow('nested too deeply')
})
