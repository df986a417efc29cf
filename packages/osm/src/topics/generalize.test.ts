import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import { decodeEwkb } from '../../test/decode-ewkb.ts'
import type { OsmElement } from '../element.ts'
import { openOsm } from '../open.ts'
import { writePbf } from '../pbf/write.ts'
import { bytesSource } from '../source.ts'
import { importOsmArea, topicTables } from './import-area.ts'
import { keptPoints } from './simplify.ts'
import type { GeneralizedTable, OsmStyle } from './style.ts'

/** Metres per degree on the sphere. */
const DEGREE = 111_195.08

const style = (geometry: 'linestring' | 'multipolygon', ...generalized: readonly GeneralizedTable[]): OsmStyle => ({
  tables: [
    {
      name: 'whole',
      geometry,
      from: [geometry === 'linestring' ? 'line' : 'area'],
      ...(geometry === 'linestring' ? { lines: 'all' as const } : { areas: 'all' as const }),
      columns: [{ name: 'size', value: geometry === 'linestring' ? 'length' : 'area' }],
      generalized,
    },
  ],
})

type Row = { id: number; size: number; coordinates: number[][] & number[][][][] }

/** Imports ways of points in degrees, each with a tag. */
async function rowsOf(
  lines: readonly (readonly (readonly [number, number])[])[],
  of: OsmStyle,
): Promise<Record<string, Row[]>> {
  const nodes: OsmElement[] = []
  const ways = lines.map((line, i): OsmElement => {
    const first = nodes.length + 1
    const isClosed = line.length > 2 && String(line[0]) === String(line.at(-1))
    const points = isClosed ? line.slice(0, -1) : line
    for (const [lon, lat] of points) nodes.push({ type: 'node', id: nodes.length + 1, lon, lat })
    const refs = points.map((_, p) => first + p)
    return { type: 'way', id: i + 1, refs: isClosed ? [...refs, first] : refs, tags: { landuse: 'forest' } }
  })
  const found: Record<string, Row[]> = {}
  const tables = topicTables(of)
  const reader = await openOsm(bytesSource(Buffer.concat([...writePbf([...nodes, ...ways])])))
  await importOsmArea(reader, null, of, {
    write: (table, rows) => {
      for (const row of rows) {
        const coordinates = decodeEwkb(row.at(-1) as Uint8Array).coordinates as Row['coordinates']
        ;(found[tables[table]!.suffix] ??= []).push({ id: Number(row[2]), size: Number(row[3]), coordinates })
      }
    },
  })
  return found
}

test('a line keeps its ends and those points that lie off it by more than the tolerance', async () => {
  const random = seededRandom(7)
  const line = Array.from({ length: 400 }, (_, i) => [11 + i / 1000, 60 + random() / 200] as [number, number])
  const { whole, low } = await rowsOf([line], style('linestring', { name: 'low', toleranceMetres: 150 }))
  const kept = low![0]!.coordinates
  const all = whole![0]!.coordinates
  expect(kept.length).toBeLessThan(all.length / 2)
  expect([kept[0], kept.at(-1)]).toEqual([all[0], all.at(-1)])
  expect(low![0]!.size).toBe(whole![0]!.size)
  const metres = ([lon, lat]: readonly number[]) =>
    [lon! * DEGREE * Math.cos((60 * Math.PI) / 180), lat! * DEGREE] as const
  for (const point of all) {
    const [px, py] = metres(point)
    const distances = kept.slice(1).map((end, i) => {
      const [ax, ay] = metres(kept[i]!)
      const [bx, by] = metres(end)
      const t = Math.min(
        1,
        Math.max(0, ((px - ax) * (bx - ax) + (py - ay) * (by - ay)) / ((bx - ax) ** 2 + (by - ay) ** 2)),
      )
      return Math.hypot(px - ax - t * (bx - ax), py - ay - t * (by - ay))
    })
    expect(Math.min(...distances)).toBeLessThan(151)
  }
})

test('a line is as wide as where it is nearest to the equator', async () => {
  // The third point lies 5 km off the line, at the equator.
  const line = [
    [0, 80],
    [0, 0.01],
    [0.045, 0],
    [0, -0.01],
  ] as [number, number][]
  const { low } = await rowsOf([line], style('linestring', { name: 'low', toleranceMetres: 1000 }))
  expect(low![0]!.coordinates).toContainEqual([0.045, 0])
})

test('a line that is too much work stays as it is', () => {
  // Each half of it keeps one point more, so that it takes as many looks as pairs of points.
  const count = 20_000
  const lon = Int32Array.from({ length: count }, (_, i) => i * 1000)
  const lat = Int32Array.from({ length: count }, (_, i) => (i % 2 ? Math.round(1.5e8 * (1 - i / count)) : 0))
  expect(keptPoints({ lon, lat }, 0, count, 1)).toBeNull()
})

test('short lines and small areas are left out', async () => {
  const square = (side: number) =>
    [
      [0, 0],
      [side, 0],
      [side, side],
      [0, side],
      [0, 0],
    ] as [number, number][]
  const areas = await rowsOf([square(0.01), square(0.02)], style('multipolygon', { name: 'low', minAreaMetres2: 2e6 }))
  expect(areas['low']!.map(({ id }) => id)).toEqual([2])
  // On the sphere, at the equator: the square of the side, to a ten-thousandth.
  expect(areas['whole']!.map(({ size }) => size / DEGREE ** 2)).toEqual([
    expect.closeTo(1e-4, 8),
    expect.closeTo(4e-4, 8),
  ])
  const length = (degrees: number) =>
    [
      [0, 0],
      [degrees, 0],
    ] as [number, number][]
  const lines = await rowsOf([length(0.01), length(0.02)], style('linestring', { name: 'low', minLengthMetres: 2000 }))
  expect(lines['low']!.map(({ id }) => id)).toEqual([2])
  expect(lines['whole']!.map(({ size }) => size)).toEqual([expect.closeTo(1111.95, 1), expect.closeTo(2223.9, 1)])
})

test('areas stay valid whatever the tolerance', async () => {
  const random = seededRandom(3)
  const star = (points: number) =>
    Array.from({ length: points + 1 }, (_, i) => {
      const angle = ((i % points) / points) * 2 * Math.PI
      const radius = i === points ? 0 : 0.002 + random() * 0.01
      return [radius, angle] as const
    })
  const rings = Array.from({ length: 60 }, (_, i) => {
    const ring = star(8 + i)
    ring[ring.length - 1] = ring[0]!
    return ring.map(
      ([radius, angle]) => [11 + radius * Math.cos(angle), 48 + radius * Math.sin(angle)] as [number, number],
    )
  })
  const { whole, low, gone } = await rowsOf(
    rings,
    style('multipolygon', { name: 'low', toleranceMetres: 300 }, { name: 'gone', toleranceMetres: 1e6 }),
  )
  expect(whole).toHaveLength(60)
  expect(gone).toBeUndefined()
  const points = (rows: Row[]) => rows.flatMap(({ coordinates }) => coordinates.flat(2)).length
  expect(points(low!)).toBeLessThan(points(whole!) * 0.8)
  for (const { coordinates } of low!) for (const ring of coordinates.flat()) expect(isSimple(ring)).toBe(true)
})

/** By brute force: no two sides of the ring have a point in common but neighbours their corner. */
function isSimple(ring: readonly number[][]): boolean {
  const side = (a: number[], b: number[], c: number[]) =>
    Math.sign((b[0]! - a[0]!) * (c[1]! - a[1]!) - (b[1]! - a[1]!) * (c[0]! - a[0]!))
  for (let i = 1; i < ring.length; i++) {
    for (let j = i + 2; j < ring.length; j++) {
      if (i === 1 && j === ring.length - 1) continue
      const [a, b, c, d] = [ring[i - 1]!, ring[i]!, ring[j - 1]!, ring[j]!]
      if (side(a, b, c) * side(a, b, d) < 0 && side(c, d, a) * side(c, d, b) < 0) return false
    }
  }
  return true
}
