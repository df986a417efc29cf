import { readAoi } from '@terrane/core'
import type { Aoi } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import type { OsmElement, OsmTags } from '../element.ts'
import { PbfReader } from '../pbf/read.ts'
import { writePbf } from '../pbf/write.ts'
import type { OsmReader } from '../reader.ts'
import { bytesSource } from '../source.ts'
import { XmlReader } from '../xml/read.ts'
import { AREA, LINE, LINES, POINT } from './feature.ts'
import type { OsmFeature } from './feature.ts'
import { readFeatures } from './read-features.ts'
import type { ReadFeaturesOptions } from './read-features.ts'
import { TagView } from './tag-view.ts'

/** Coordinates in the tests are hundredths of a degree. */
const node = (id: number, x: number, y: number, tags: OsmTags = {}): OsmElement => ({
  type: 'node',
  id,
  lon: x / 100,
  lat: y / 100,
  tags,
})
const way = (id: number, refs: number[], tags: OsmTags = {}): OsmElement => ({ type: 'way', id, refs, tags })
const relation = (id: number, ways: number[], tags: OsmTags, role = 'outer'): OsmElement => ({
  type: 'relation',
  id,
  members: ways.map((ref) => ({ type: 'way', ref, role })),
  tags,
})

/** Features as texts: element, tag, kind, and the number of lines or polygons and points. */
function features(elements: readonly OsmElement[], options?: ReadFeaturesOptions) {
  return featuresOf(new PbfReader(bytesSource(Buffer.concat([...writePbf(elements, { blockSize: 3 })]))), options)
}

async function featuresOf(reader: OsmReader, options?: ReadFeaturesOptions) {
  const found: string[] = []
  const tags = new TagView(['a', 'type'])
  const result = await readFeatures(
    reader,
    {
      tags,
      select: (element) =>
        tags.get(0) === null ? 0 : element === 'relation' && tags.get(1) === 'route' ? LINES : POINT | LINE | AREA,
      visit: (feature) => void found.push(describeFeature(feature)),
    },
    options,
  )
  return { found, counts: result.counts }
}

function describeFeature({ element, id, tags, geometry, lon, lines, lineStart, area }: OsmFeature): string {
  const name = `${element} ${id} ${tags.get(0)}`
  if (geometry === POINT) return `${name} at ${lon[0]! / 1e5}`
  if (geometry === AREA)
    return `${name} area ${area.polygonCount}/${area.ringStart[area.polygonStart[area.polygonCount]!]}`
  return `${name} ${geometry === LINE ? 'line' : 'lines'} ${lines}/${lineStart[lines]}`
}

const square = [node(1, 0, 0), node(2, 10, 0), node(3, 10, 10), node(4, 0, 10)]
const hole = [node(5, 2, 2), node(6, 4, 2), node(7, 4, 4)]

describe('elements become features', () => {
  test('nodes, lines, closed ways, multipolygons and routes, in that order', async () => {
    const { found, counts } = await features([
      ...square,
      ...hole,
      node(8, 7, 1, { a: 'tree' }),
      node(9, 7, 1, { b: 'none' }),
      way(1, [1, 2, 3], { a: 'road' }),
      way(2, [1, 2, 3, 4, 1], { a: 'field' }),
      way(3, [3, 4, 1]),
      way(4, [5, 6, 7, 5]),
      relation(1, [1, 3, 4], { a: 'wood', type: 'multipolygon' }),
      relation(2, [1, 3], { a: 'bus', type: 'route' }),
      relation(3, [1, 3], { type: 'route' }),
    ])
    expect(found).toEqual([
      'node 8 tree at 7',
      'open way 1 road line 1/3',
      'closed way 2 field line 1/5',
      'closed way 2 field area 1/5',
      'relation 1 wood area 1/9',
      'relation 2 bus lines 2/6',
    ])
    expect(counts).toMatchObject({ nodes: 1, ways: 3, relations: 2, missingNodes: 0, openAreas: 0 })
  })

  test('whatever the order of the file', async () => {
    const elements = [
      relation(1, [1, 3], { a: 'wood', type: 'multipolygon' }),
      way(3, [3, 4, 1]),
      way(1, [1, 2, 3], { a: 'road' }),
      ...square.toReversed(),
    ]
    const { found } = await features(elements)
    expect(found).toEqual(['open way 1 road line 1/3', 'relation 1 wood area 1/5'])
  })

  test('at the cut border of an extract, as far as they are there', async () => {
    const { found, counts } = await features([
      ...square,
      way(1, [1, 99, 2, 3], { a: 'road' }),
      way(2, [98, 1], { a: 'stub' }),
      way(3, [1, 2, 99, 3, 4, 1], { a: 'field' }),
      way(4, [99, 1, 2, 3, 99], { a: 'torn' }),
      relation(1, [1, 77], { a: 'open', type: 'multipolygon' }),
      relation(2, [77, 78], { a: 'none', type: 'multipolygon' }),
      relation(3, [77, 1], { a: 'bus', type: 'route' }),
    ])
    expect(found).toEqual([
      'open way 1 road line 1/3',
      'closed way 3 field line 1/5',
      'closed way 3 field area 1/5',
      'closed way 4 torn line 1/3',
      'relation 3 bus lines 1/3',
    ])
    expect(counts).toMatchObject({ missingNodes: 5, openAreas: 2, withoutGeometry: 2, ways: 4, relations: 1 })
  })

  test('without points that repeat the one before, and not as lines without a length', async () => {
    const { found, counts } = await features([
      ...square,
      node(20, 0, 0),
      way(1, [1, 20, 2, 2, 3], { a: 'road' }),
      way(2, [1, 20], { a: 'dot' }),
      way(3, [1, 20, 1, 20, 1], { a: 'dot' }),
    ])
    expect(found).toEqual(['open way 1 road line 1/3'])
    expect(counts.withoutGeometry).toBe(2)
  })

  test('from locations that stand with the ways, and from nodes where a way has none', async () => {
    const text = `<osm><node id="1" lon="0" lat="0"/><node id="2" lon="0.1" lat="0"/>
      <way id="1"><nd ref="1"/><nd ref="2"/><tag k="a" v="road"/></way>
      <way id="2"><nd ref="1"/><nd ref="8" lon="0.1" lat="0.1"/><nd ref="9" lon="0.2" lat="0"/><tag k="a" v="lane"/></way></osm>`
    const { found, counts } = await featuresOf(new XmlReader(bytesSource(Buffer.from(text))))
    expect(found).toEqual(['open way 1 road line 1/2', 'open way 2 lane line 1/3'])
    expect(counts.missingNodes).toBe(0)
  })

  test('once each, and areas only when their lines do not cross', async () => {
    const { found, counts } = await features([
      ...square,
      node(8, 1, 1, { a: 'tree' }),
      node(8, 2, 2, { a: 'tree' }),
      way(1, [1, 3, 2, 4, 1], { a: 'tie' }),
      way(1, [1, 2], { a: 'again' }),
      relation(1, [1], { a: 'wood', type: 'multipolygon' }),
      relation(1, [1], { a: 'wood', type: 'multipolygon' }),
    ])
    expect(found).toEqual(['node 8 tree at 1', 'closed way 1 tie line 1/5'])
    expect(counts).toMatchObject({ repeated: 3, invalidAreas: 2 })
  })
})

describe('features that touch the area of interest', () => {
  const box = (w: number, s: number, e: number, n: number): Aoi => {
    const coordinates = [[[w, s], [e, s], [e, n], [w, n], [w, s]].map(([x, y]) => [x! / 100, y! / 100])] // prettier-ignore
    return readAoi({ type: 'Polygon', coordinates }, { maxVertices: 100, maxAreaKm2: 1e9 })
  }
  const scene = [
    ...square,
    node(8, 3, 3, { a: 'within' }),
    node(9, 2, 4, { a: 'border' }),
    node(10, 1.9, 3, { a: 'out' }),
    node(11, -50, 3),
    node(12, 50, 3),
    node(13, 50, 50),
    way(1, [11, 12], { a: 'through' }),
    way(2, [11, 13], { a: 'past' }),
    way(3, [1, 2, 3, 4, 1], { a: 'around' }),
    way(4, [12, 13], { a: 'away' }),
    relation(1, [3], { a: 'around too', type: 'boundary' }),
    relation(2, [1], { a: 'bus', type: 'route' }),
    relation(3, [4], { a: 'tram', type: 'route' }),
  ]

  test('are whole: what crosses it without a node in it, and what surrounds it', async () => {
    const { found, counts } = await features(scene, { aoi: box(2, 2, 5, 5) })
    expect(found).toEqual([
      'node 8 within at 3',
      'node 9 border at 2',
      'open way 1 through line 1/2',
      'closed way 3 around area 1/5',
      'relation 1 around too area 1/5',
      'relation 2 bus lines 1/2',
    ])
    expect(counts.outside).toBe(5)
  })

  test('are none in a hole', async () => {
    const { found } = await features(
      [
        ...square,
        ...hole,
        way(1, [1, 2, 3, 4, 1]),
        way(2, [5, 6, 7, 5]),
        relation(1, [1, 2], { a: 'ring', type: 'multipolygon' }),
      ],
      { aoi: box(3.4, 2.4, 3.6, 2.6) },
    )
    expect(found).toEqual([])
  })
})

test('progress tells of both passes, and a signal ends the reading', async () => {
  const phases = new Set<string>()
  await features(square, {
    onProgress: ({ phase, total, unit }) => void phases.add(`${phase} ${typeof total} ${unit}`),
  })
  expect([...phases]).toEqual(['nodes number bytes'])
  await expect(features(square, { signal: AbortSignal.abort() })).rejects.toThrow(/abort/)
})
