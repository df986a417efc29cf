// The multipolygon suite of osmcode/osm-testdata: the expected polygon of a relation or closed way, or that it is invalid.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { AreaAssembler, openOsm, fileSource } from '../src/index.ts'
import type { OsmElement } from '../src/index.ts'
import { readElements } from './read-elements.ts'
import { sharedFolder } from './shared.ts'

interface Expected {
  readonly from_id: number
  readonly from_type: 'way' | 'relation'
  readonly wkt: string
}

const folder = sharedFolder('data/osm-testdata/7')

describe.skipIf(!folder)(
  `osm-testdata multipolygons${folder ? '' : ' (SKIPPED: the shared data folder is absent)'}`,
  () => {
    const tests = folder ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : []
    const areas = tests.flatMap((name) => {
      const { areas: variants } = readTest(join(folder ?? '', name))
      const all = Object.values(variants).flat()
      const keys = new Set(all.map((area) => `${area.from_type}/${area.from_id}`))
      return [...keys].map((key) => ({
        name,
        key,
        wkts: all.filter((area) => `${area.from_type}/${area.from_id}` === key).map(({ wkt }) => wkt),
      }))
    })

    test('the suite is whole: 101 results for 80 elements; any variant of an element counts', () => {
      expect(areas.flatMap(({ wkts }) => wkts).length).toBe(101)
      expect(areas.length).toBe(80)
    })

    test.for(areas)('$name $key', async ({ name, key, wkts }) => {
      const elements = await readElements(await openOsm(await fileSource(join(folder ?? '', name, 'data.osm'))))
      const built = build(elements, key)
      const wanted = wkts.map((wkt) => (wkt === 'INVALID' ? null : boundary(parseRings(wkt))))
      expect(wanted).toContainEqual(built)
    })
  },
)

function readTest(path: string): { areas: Record<string, Expected[]> } {
  return JSON.parse(readFileSync(join(path, 'test.json'), 'utf8'))
}

/** The boundary of the area of an element, null when there is none. */
function build(elements: readonly OsmElement[], key: string): string[] | null {
  const assembler = new AreaAssembler()
  assembler.start()
  const element = elements.find(({ type, id }) => `${type}/${id}` === key)
  const ids = new Set<number>()
  if (element?.type === 'way') ids.add(element.id)
  if (element?.type === 'relation') for (const { type, ref } of element.members) if (type === 'way') ids.add(ref)
  const nodes = new Map(elements.filter(({ type }) => type === 'node').map((node) => [node.id, node]))
  for (const way of elements) {
    if (way.type !== 'way' || !ids.has(way.id)) continue
    const points = way.refs.map((ref) => nodes.get(ref)).filter((node) => node?.type === 'node')
    const lon = Int32Array.from(points, (point) => Math.round(point.lon * 1e7))
    const lat = Int32Array.from(points, (point) => Math.round(point.lat * 1e7))
    assembler.addLine(lon, lat, 0, points.length)
  }
  if (assembler.assemble() !== null) return null
  const rings: number[][][] = []
  for (let r = 0; r < assembler.polygonStart[assembler.polygonCount]!; r++) {
    const ring: number[][] = []
    for (let i = assembler.ringStart[r]!; i < assembler.ringStart[r + 1]!; i++) {
      ring.push([assembler.lon[i]! / 1e7, assembler.lat[i]! / 1e7])
    }
    rings.push(ring)
  }
  return boundary(rings)
}

function parseRings(wkt: string): number[][][] {
  const rings = wkt.match(/[\d. ,-]{5,}/g) ?? []
  return rings.map((ring) => ring.split(',').map((point) => point.trim().split(' ').map(Number)))
}

/** Two areas by the even-odd rule are equal when their boundaries have the same segments, straight runs merged. */
function boundary(rings: readonly number[][][]): string[] {
  const segments = new Map<string, [number[], number[]]>()
  const toggle = (a: number[], b: number[]): void => {
    const key = [a.join(' '), b.join(' ')].toSorted().join(', ')
    if (!segments.delete(key)) segments.set(key, [a, b])
  }
  for (const ring of rings) for (let i = 1; i < ring.length; i++) toggle(ring[i - 1]!, ring[i]!)
  for (const point of rings.flat()) {
    const here = [...segments.values()].flatMap(([a, b]) => (same(a, point) ? [b] : same(b, point) ? [a] : []))
    const [a, b] = here
    if (here.length !== 2 || !a || !b || !straight(a, point, b)) continue
    toggle(a, point)
    toggle(point, b)
    toggle(a, b)
  }
  return [...segments.keys()].toSorted()
}

function same(a: number[], b: number[]): boolean {
  return a[0] === b[0] && a[1] === b[1]
}

function straight(a: number[], b: number[], c: number[]): boolean {
  return Math.abs((b[0]! - a[0]!) * (c[1]! - a[1]!) - (b[1]! - a[1]!) * (c[0]! - a[0]!)) < 1e-12
}
