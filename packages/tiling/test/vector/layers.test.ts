import { seededRandom } from '@terrane/core'
import { describe, expect, test } from 'vitest'
import Supercluster from 'supercluster'
import { buildPmtiles } from '../../src/vector/index.ts'
import type { FeatureBatch, TilerLayer, TilerOptions } from '../../src/vector/index.ts'
import { batchesOf, line, point, polygon, type TestFeature } from './feature-source.ts'
import { bytesOf, readArchive, type ReadFeature, type ReadTile } from './read-archive.ts'
import { randomFeatures } from './random-features.ts'

interface Source extends TilerLayer {
  readonly features: readonly TestFeature[]
}

async function build(sources: readonly Source[], options: Partial<TilerOptions> = {}) {
  async function* batches(): AsyncGenerator<FeatureBatch> {
    for (const [layer, { features, attributes }] of sources.entries())
      for await (const batch of batchesOf(features, attributes)) yield { ...batch, layer }
  }
  using result = await buildPmtiles(batches(), { zooms: [0, 8], ...options, layers: sources })
  return { result, ...(await readArchive(bytesOf(result))) }
}

const shownAt = (tiles: readonly ReadTile[], zoom: number) =>
  tiles.filter((tile) => tile.zoom === zoom).flatMap(({ features }) => features)
const inLayer = (features: readonly ReadFeature[], layer: string) => features.filter((one) => one.layer === layer)
const idsOf = (features: readonly ReadFeature[]) => new Set(features.map(({ id }) => id))

/** Points around towns, away from the edges of tiles that two tiles would both show. */
function places(count: number, seed = 5): TestFeature[] {
  const random = seededRandom(seed)
  const around = () => random() + random() + random() - 1.5
  return Array.from({ length: count }, (_, i) => ({
    id: i + 1,
    geometry: point((i % 7) * 3 + around(), 45 + (i % 5) * 2 + around()),
    properties: { people: Math.round(random() ** 4 * 1e6), height: i % 10 === 0 ? null : (i % 50) - 25.5 },
  }))
}

describe('several layers', async () => {
  const roads: Source = {
    name: 'roads',
    attributes: ['name'],
    zooms: [3, 8],
    features: Array.from({ length: 50 }, (_, i) => ({
      id: i + 1,
      geometry: line([i / 10, 0], [i / 10, 5]),
      properties: { name: `road ${i % 3}` },
    })),
  }
  const towns: Source = { name: 'towns', attributes: ['people', 'height'], zooms: [0, 6], features: places(300) }
  const areas: Source = {
    name: 'areas',
    attributes: [],
    features: [{ id: 1, geometry: polygon([[0, 0], [9, 0], [9, 9], [0, 9]]) }], // prettier-ignore
  }
  const { result, metadata, tiles, header } = await build([roads, towns, areas])

  test('are all in the tiles of their zooms, each with its attributes', () => {
    for (let zoom = 0; zoom <= 8; zoom++) {
      const shown = shownAt(tiles, zoom)
      expect([zoom, inLayer(shown, 'roads').length > 0]).toEqual([zoom, zoom >= 3])
      expect([zoom, inLayer(shown, 'towns').length > 0]).toEqual([zoom, zoom <= 6])
      expect([zoom, inLayer(shown, 'areas').length > 0]).toEqual([zoom, true])
    }
    expect(idsOf(inLayer(shownAt(tiles, 8), 'roads')).size).toBe(50)
    expect(idsOf(inLayer(shownAt(tiles, 6), 'towns')).size).toBe(300)
    const town = inLayer(shownAt(tiles, 6), 'towns').find(({ id }) => id === 2)
    expect(town?.properties).toEqual(towns.features[1]!.properties)
  })

  test('are described with their zooms, fields and counts', () => {
    expect([header.minZoom, header.maxZoom]).toEqual([0, 8])
    expect(metadata).toMatchObject({
      name: 'roads, towns, areas',
      vector_layers: [
        { id: 'roads', minzoom: 3, maxzoom: 8, fields: { name: 'String' } },
        { id: 'towns', minzoom: 0, maxzoom: 6, fields: { people: 'Number', height: 'Number' } },
        { id: 'areas', minzoom: 0, maxzoom: 8, fields: {} },
      ],
      tilestats: { layerCount: 3 },
    })
    expect(result.layers.map(({ name, features }) => [name, features])).toEqual([
      ['roads', 50],
      ['towns', 300],
      ['areas', 1],
    ])
  })

  test('show what each shows alone', async () => {
    for (const source of [roads, towns]) {
      const alone = await build([source])
      for (let zoom = 0; zoom <= 8; zoom++) {
        expect(inLayer(shownAt(tiles, zoom), source.name)).toEqual(shownAt(alone.tiles, zoom))
      }
    }
  })

  test('one at its highest zoom loses nothing to the limits of a tile, another gives way', async () => {
    const whole: Source = { name: 'whole', attributes: ['people'], zooms: [0, 2], features: places(150, 8) }
    const other: Source = { name: 'other', attributes: ['people'], features: places(1000, 9) }
    const limited = await build([whole, other], { maxTileBytes: 5000, zooms: [0, 10] })
    expect(Math.max(...limited.tiles.map(({ bytes }) => bytes))).toBeLessThanOrEqual(5000)
    const shown = shownAt(limited.tiles, 2)
    expect(idsOf(inLayer(shown, 'whole')).size).toBe(150)
    expect(idsOf(inLayer(shown, 'other')).size).toBeLessThan(1000)
    expect(idsOf(inLayer(shownAt(limited.tiles, 10), 'other')).size).toBe(1000)
  })

  test('take zooms by their data unless they name their own', async () => {
    const archive = await build([towns, { ...roads, zooms: 'auto' }], { zooms: 'auto' })
    expect(archive.result.layers[0]).toMatchObject({ minZoom: 0, maxZoom: 6 })
    expect(archive.result.layers[1]!.maxZoom).toBeGreaterThanOrEqual(10)
  })

  test('without features are named all the same', async () => {
    const { metadata: about, result: made } = await build([{ ...roads, features: [] }, towns])
    expect(about).toMatchObject({ vector_layers: [{ id: 'roads', fields: {} }, { id: 'towns' }] })
    expect(made.layers[0]).toMatchObject({ features: 0, skipped: 0 })
  })
})

test.each<[string, Partial<Source>[], string]>([
  ['no layer', [], '1 to 32'],
  ['33 layers', Array.from({ length: 33 }, (_, i) => ({ name: `l${i}` })), '1 to 32'],
  ['two of one name', [{}, {}], 'two layers'],
  ['a rank that is no attribute', [{ rankBy: { attribute: 'x' } }], 'no attribute x'],
  [
    'a sum of what is no attribute',
    [{ cluster: { aggregates: [{ attribute: 'y', operation: 'sum' }] } }],
    'attribute y',
  ],
  ['clusters at the highest zoom', [{ cluster: { maxZoom: 8 } }], 'end at zoom 8'],
  ['clusters below the lowest zoom', [{ zooms: [4, 8], cluster: { maxZoom: 3 } }], 'end at zoom 3'],
  ['clusters of one zoom', [{ zooms: [4, 4], cluster: {} }], 'one zoom'],
])('%s is refused', async (_, sources, problem) => {
  const layers = sources.map((source) => ({ name: 'a', attributes: ['people'], features: [], ...source }))
  await expect(build(layers)).rejects.toMatchObject({ code: 'BAD_LAYERS', message: expect.stringContaining(problem) })
})

describe('clusters', async () => {
  const features = places(2000)
  const cluster: TilerLayer['cluster'] = {
    distance: 40,
    maxZoom: 6,
    aggregates: [
      { attribute: 'people', operation: 'sum' },
      { attribute: 'height', operation: 'mean' },
    ],
  }
  const source: Source = { name: 'p', attributes: ['people', 'height'], cluster, features }
  const { tiles, metadata } = await build([source])
  /** Points of a zoom once each: those in the buffer of a tile are the neighbour's. */
  const pointsAt = (zoom: number, from = tiles) =>
    from
      .filter((tile) => tile.zoom === zoom)
      .flatMap((tile) =>
        tile.features
          .map((one) => ({ ...one, x: one.parts[0]![0]![0], y: one.parts[0]![0]![1] }))
          .filter(({ x, y }) => x >= 0 && x < 4096 && y >= 0 && y < 4096)
          .map((one) => ({ ...one, x: tile.x * 4096 + one.x, y: tile.y * 4096 + one.y })),
      )
  const sumOf = (shown: readonly ReadFeature[], name: string, alone: number) =>
    shown.reduce((sum, { properties }) => sum + Number(properties[name] ?? alone), 0)

  test('count every point once at every zoom, and sum what it has', () => {
    const people = features.reduce((sum, { properties }) => sum + (properties!['people'] as number), 0)
    for (let zoom = 0; zoom <= 6; zoom++) {
      const shown = pointsAt(zoom)
      expect([zoom, sumOf(shown, 'point_count', 1), sumOf(shown, 'people', 0)]).toEqual([zoom, 2000, people])
    }
    expect(pointsAt(7).filter(({ properties }) => 'cluster' in properties)).toEqual([])
    expect(idsOf(pointsAt(8)).size).toBe(2000)
  })

  test('have the attributes that supercluster gives them, and are in the metadata', () => {
    const [whole] = pointsAt(0).toSorted(
      (a, b) => Number(b.properties['point_count']) - Number(a.properties['point_count']),
    )
    const { point_count: count, point_count_abbreviated: short } = whole!.properties
    expect(whole).toMatchObject({ id: undefined, properties: { cluster: true } })
    expect(short).toBe(Number(count) >= 1000 ? `${Math.round(Number(count) / 100) / 10}k` : count)
    expect(metadata).toMatchObject({
      vector_layers: [
        {
          fields: {
            people: 'Number',
            cluster: 'Boolean',
            point_count: 'Number',
            point_count_abbreviated: expect.any(String),
          },
        },
      ],
    })
  })

  test('of a mean hold the mean of the points that have a number', async () => {
    const few: TestFeature[] = [1, 2, 6, null].map((height, i) => ({
      geometry: point(i / 1e4, 0),
      properties: { height },
    }))
    const made = await build([
      {
        name: 'p',
        attributes: ['height'],
        cluster: { aggregates: [{ attribute: 'height', operation: 'mean' }] },
        features: few,
      },
    ])
    expect(shownAt(made.tiles, 0)[0]!.properties).toMatchObject({ point_count: 4, height: 3 })
    const least = await build([
      {
        name: 'p',
        attributes: ['height'],
        cluster: { aggregates: [{ attribute: 'height', operation: 'min' }] },
        features: few,
      },
    ])
    expect(shownAt(least.tiles, 0)[0]!.properties).toMatchObject({ height: 1 })
    const most = await build([
      {
        name: 'p',
        attributes: ['height'],
        cluster: { aggregates: [{ attribute: 'height', operation: 'max' }] },
        features: few,
      },
    ])
    expect(shownAt(most.tiles, 0)[0]!.properties).toMatchObject({ height: 6 })
  })

  test('are about as many as supercluster makes of the same points', () => {
    const peer = new Supercluster({ radius: 40, extent: 512, maxZoom: 6 })
    peer.load(
      features.map(({ geometry }) => ({ type: 'Feature', properties: {}, geometry: geometry as GeoJSON.Point })),
    )
    for (let zoom = 0; zoom <= 6; zoom++) {
      const theirs = peer.getClusters([-180, -85, 180, 85], zoom).length
      expect(Math.abs(pointsAt(zoom).length - theirs)).toBeLessThanOrEqual(Math.max(2, 0.2 * theirs))
    }
  })

  test('need as many points as are asked for', async () => {
    const { tiles: strict } = await build([{ ...source, cluster: { ...cluster, minPoints: 8 } }])
    const counts = pointsAt(6, strict).flatMap(({ properties }) =>
      'cluster' in properties ? [properties['point_count']] : [],
    )
    expect(counts.length).toBeGreaterThan(0)
    expect(Math.min(...counts.map(Number))).toBeGreaterThanOrEqual(8)
  })

  test('leave lines and polygons as they are', async () => {
    const mixed = randomFeatures(300, 3)
    const names = [...new Set(mixed.flatMap(({ properties }) => Object.keys(properties!)))]
    const [clustered, plain] = await Promise.all([
      build([{ name: 'm', attributes: names, cluster: {}, features: mixed }]),
      build([{ name: 'm', attributes: names, features: mixed }]),
    ])
    const shapes = (from: readonly ReadTile[]) => shownAt(from, 4).filter(({ type }) => type !== 'point')
    expect(shapes(clustered.tiles)).toEqual(shapes(plain.tiles))
  })
})

describe('points that are ranked by an attribute', async () => {
  const features = places(3000)
  const peopleOf = (id: unknown) => features[Number(id) - 1]!.properties!['people'] as number
  const source: Source = { name: 'p', attributes: ['people'], rankBy: { attribute: 'people' }, features }

  test('stay by their rank where a drop rate thins them: the first is at every zoom, and a zoom is part of the next', async () => {
    const { tiles } = await build([{ ...source, dropRate: 2.5 }])
    const first = features.toSorted((a, b) => peopleOf(b.id) - peopleOf(a.id))[0]!.id
    const mean = (zoom: number) => {
      const ids = [...idsOf(shownAt(tiles, zoom))]
      return ids.reduce((sum: number, id) => sum + peopleOf(id), 0) / ids.length
    }
    for (let zoom = 0; zoom < 8; zoom++) {
      const ids = idsOf(shownAt(tiles, zoom))
      expect(ids.has(first as number)).toBe(true)
      expect(ids.isSubsetOf(idsOf(shownAt(tiles, zoom + 1)))).toBe(true)
      expect(ids.size).toBeLessThanOrEqual(Math.ceil(idsOf(shownAt(tiles, zoom + 1)).size / 2.5))
      expect(mean(zoom)).toBeGreaterThan(mean(zoom + 1))
    }
  })

  test('without a drop rate the first of each cell is shown, the smallest if asked', async () => {
    const near: TestFeature[] = [3, 1, 2].map((people, i) => ({
      id: people,
      geometry: point(1 + i / 1e6, 1),
      properties: { people },
    }))
    for (const [order, id] of [
      ['largest', 3],
      ['smallest', 1],
    ] as const) {
      // prettier-ignore
      const { tiles } = await build([{ ...source, features: near, rankBy: { attribute: 'people', order } }])
      expect(shownAt(tiles, 0).map((one) => one.id)).toEqual([id])
      expect(idsOf(shownAt(tiles, 8)).size).toBe(3)
    }
  })

  test('are the last to go where a tile would be too large', async () => {
    const { tiles, result } = await build([source], { maxTileBytes: 4000, zooms: [0, 10] })
    expect(result.dropped).toBeGreaterThan(0)
    const tile = tiles.filter(({ zoom, bytes }) => zoom < 10 && bytes > 3500).toSorted((a, b) => a.zoom - b.zoom)[0]!
    const inTile = shownAt(
      (await build([source], { zooms: [0, 10] })).tiles.filter(
        ({ zoom, x, y }) => zoom === tile.zoom && x === tile.x && y === tile.y,
      ),
      tile.zoom,
    )
    const kept = idsOf(tile.features)
    const lost = [...idsOf(inTile)].filter((id) => !kept.has(id)).map(peopleOf)
    expect(lost.length).toBeGreaterThan(0)
    expect(Math.min(...[...kept].map(peopleOf))).toBeGreaterThanOrEqual(Math.max(...lost))
  })
})

test('an archive of layers, clusters and ranks is the same to the byte whatever memory there is', async () => {
  const sources: Source[] = [
    {
      name: 'c',
      attributes: ['people'],
      cluster: { aggregates: [{ attribute: 'people', operation: 'sum' }] },
      features: places(800),
    },
    { name: 'r', attributes: ['people'], rankBy: { attribute: 'people' }, dropRate: 2, features: places(800, 6) },
  ]
  const [small, large] = await Promise.all([build(sources, { memoryBytes: 1 << 16 }), build(sources)])
  expect(small.result.bytes).toBe(large.result.bytes)
  expect(small.tiles).toEqual(large.tiles)
})
