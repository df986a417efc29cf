import { seededRandom } from '@terrane/core'
import { randomCases } from '@terrane/testing/property'
import { describe, expect, test } from 'vitest'
import { buildPmtiles } from '../../src/vector/index.ts'
import type { FeatureBatch, TilerLayer, TilerOptions } from '../../src/vector/index.ts'
import { checkAgainstBruteForce, distanceToLines } from './brute-force.ts'
import { batchesOf, line, point, polygon } from './feature-source.ts'
import type { TestFeature } from './feature-source.ts'
import { memoryScratch } from './memory-scratch.ts'
import { bytesOf, polygonsOf, readArchive } from './read-archive.ts'
import type { ReadTile } from './read-archive.ts'
import { randomFeatures } from './random-features.ts'
import { area, invalidity } from './validity.ts'

const EXTENT = 4096
const BUFFER = 80

type Options = Partial<TilerOptions> & Partial<Omit<TilerLayer, 'name' | 'zooms'>>

async function build(features: readonly TestFeature[], options: Options = {}) {
  const attributes = options.attributes ?? [...new Set(features.flatMap((f) => Object.keys(f.properties ?? {})))]
  const { dropRate, rankBy, cluster, ...rest } = options
  const layer = {
    name: 'things',
    attributes,
    ...(dropRate && { dropRate }),
    ...(rankBy && { rankBy }),
    ...(cluster && { cluster }),
  }
  return buildLayers([layer], batchesOf(features, attributes), rest)
}

async function buildLayers(
  layers: readonly TilerLayer[],
  batches: AsyncIterable<FeatureBatch>,
  options: Partial<TilerOptions> = {},
) {
  const { open, files } = memoryScratch()
  const result = await buildPmtiles(batches, { openScratch: open, ...options, layers })
  const bytes = bytesOf(result)
  result[Symbol.dispose]()
  expect(files.filter((file) => file.isOpen)).toEqual([])
  expect(bytes.length).toBe(result.bytes)
  return { result, bytes, ...(await readArchive(bytes)) }
}

const atZoom = (tiles: readonly ReadTile[], zoom: number) => tiles.filter((tile) => tile.zoom === zoom)
const idsOf = (tiles: readonly ReadTile[]) => new Set(tiles.flatMap((tile) => tile.features.map(({ id }) => id)))

describe('an archive of mixed features', async () => {
  const features = randomFeatures(500, 17)
  const archive = await build(features, { zooms: [0, 10], name: 'Mixed', attribution: 'ours' })

  test('has a header that says what it holds', () => {
    const { header, entries, tiles, result } = archive
    expect(header).toMatchObject({
      specVersion: 3,
      clustered: true,
      internalCompression: 2,
      tileCompression: 2,
      tileType: 1,
      minZoom: 0,
      maxZoom: 10,
      centerZoom: 10,
      numAddressedTiles: tiles.length,
      numTileEntries: entries.length,
      numTileContents: new Set(entries.map(({ offset }) => offset)).size,
    })
    expect(result).toMatchObject({
      tiles: tiles.length,
      minZoom: 0,
      maxZoom: 10,
      features: 500,
      skipped: 0,
      dropped: 0,
    })
    const lngs = features.flatMap(({ geometry }) => positionsOf(geometry).map(([lng]) => lng))
    expect(header.minLon).toBeCloseTo(Math.min(...lngs), 6)
    expect(header.maxLon).toBeCloseTo(Math.max(...lngs), 6)
    const largest = atZoom(tiles, 10).reduce((a, b) => (b.bytes > a.bytes ? b : a))
    expect(Math.floor(((header.centerLon + 180) / 360) * 2 ** 10)).toBe(largest.x)
  })

  test('is clustered: tiles in order, contents written where they first occur', () => {
    const ids = archive.entries.map(({ tileId }) => tileId)
    expect(ids).toEqual([...new Set(ids)].toSorted((a, b) => a - b))
    let end = 0
    for (const { offset, length } of archive.entries) {
      expect(offset).toBeLessThanOrEqual(end)
      end = Math.max(end, offset + length)
    }
  })

  test('shows every feature at the highest zoom, with its id and typed attributes', () => {
    const shown = new Map(atZoom(archive.tiles, 10).flatMap((tile) => tile.features.map((f) => [f.id, f.properties])))
    expect(shown.size).toBe(features.length)
    for (const { id, properties } of features) {
      const wanted = Object.entries(properties!).filter(([, value]) => value !== null)
      expect(shown.get(id as number)).toEqual(Object.fromEntries(wanted))
    }
  })

  test('holds valid geometry within the buffer of its tile', () => {
    const problems = archive.tiles.flatMap(({ zoom, x, y, features: shown, extent }) =>
      shown.flatMap(({ id, type, parts }) => {
        const inBuffer = parts.flat(2).every((value) => value >= -BUFFER && value <= extent + BUFFER)
        const problem = !inBuffer
          ? 'outside the buffer'
          : type === 'polygon'
            ? invalidity(polygonsOf(parts))
            : type === 'line' && parts.some((part) => part.length < 2)
              ? 'a line of one vertex'
              : null
        return problem || parts.length === 0 ? [`${zoom}/${x}/${y} ${id}: ${problem}`] : []
      }),
    )
    expect(problems).toEqual([])
    expect(new Set(archive.tiles.map(({ extent }) => extent))).toEqual(new Set([EXTENT]))
  })

  test('describes its layer, attributes and texts', () => {
    expect(archive.metadata).toMatchObject({
      name: 'Mixed',
      attribution: 'ours',
      vector_layers: [
        {
          id: 'things',
          minzoom: 0,
          maxzoom: 10,
          fields: { name: 'String', rank: 'Number', ratio: 'Number', open: 'Boolean', mixed: 'Mixed' },
        },
      ],
      tilestats: { layers: [{ layer: 'things', count: 500 }] },
    })
    expect(new Set(archive.tiles.flatMap((tile) => tile.layers))).toEqual(new Set(['things']))
  })

  test('is the same to the byte whatever memory there is', async () => {
    const spilling = await build(features, { zooms: [0, 10], name: 'Mixed', attribution: 'ours', memoryBytes: 1 << 16 })
    expect(Buffer.compare(spilling.bytes, archive.bytes)).toBe(0)
  })
})

test('zoom by zoom, shapes stay within the tolerance of the original', async () => {
  await randomCases(
    12,
    async (_, seed) => {
      const features = randomFeatures(35, seed, { simple: true })
      const { tiles } = await build(features, { zooms: [3, 10] })
      expect(checkAgainstBruteForce(features, tiles)).toEqual([])
    },
    { least: 2 },
  )
})

test('a tile holds each attribute value once, in order, so that it compresses well', async () => {
  const names = ['pear', 'apple 12', 'fig', 'apple 3', 'pear', 'zebra', 'fig']
  const features = names.map((name, id) => ({ id, geometry: point(id / 1000, 1), properties: { name } }))
  const { tiles } = await build(features, { zooms: [0, 0] })
  const text = Buffer.from(tiles[0]!.data).toString('latin1')
  expect(text.match(/pear|apple \d+|fig|zebra/gu)).toEqual(['apple 12', 'apple 3', 'fig', 'pear', 'zebra'])
  for (const { id, properties } of tiles[0]!.features) expect(properties['name']).toBe(names[id!])
})

describe('shared ends', () => {
  test('a line keeps the vertices in which other lines end, at every zoom', async () => {
    const wavy: [number, number][] = Array.from({ length: 60 }, (_, i) => [10 + i * 0.01, 50 + Math.sin(i / 3) * 1e-5])
    const joints = [7, 23, 41]
    const features = [
      { id: 1, geometry: line(...wavy) },
      ...joints.map((i, k) => ({ id: 2 + k, geometry: line(wavy[i]!, [wavy[i]![0] + 0.02, 50.3]) })),
    ]
    const { tiles } = await build(features, { zooms: [5, 12] })
    let joined = 0
    for (const { features: shown } of tiles) {
      const through = shown.find(({ id }) => id === 1)
      for (const branch of shown.filter(({ id }) => id !== 1)) {
        const [x, y] = branch.parts[0]![0]!
        // Where the branch is cut by the edge of the tile it does not begin at its joint.
        if (!through || Math.min(x, y) <= -BUFFER || Math.max(x, y) >= EXTENT + BUFFER) continue
        expect(distanceToLines(through.parts, [x, y])).toBe(0)
        joined++
      }
    }
    expect(joined).toBeGreaterThan(20)
    const straight = atZoom(tiles, 8).flatMap(({ features: shown }) => shown.filter(({ id }) => id === 1))
    expect(Math.max(...straight.map(({ parts }) => parts[0]!.length))).toBeLessThan(30)
  })

  test('neighbouring polygons keep one common border at every zoom', async () => {
    const random = seededRandom(5)
    const border: [number, number][] = Array.from({ length: 300 }, (_, i) => [
      10 + (random() - 0.5) * 0.01,
      50 + i * 0.002,
    ])
    const west = polygon([[9, 50], ...border, [9, 50.598]])
    const east = polygon([...border.toReversed(), [11, 50], [11, 50.598]])
    const { tiles } = await build(
      [
        { id: 1, geometry: west },
        { id: 2, geometry: east },
      ],
      { zooms: [4, 11] },
    )
    let compared = 0
    for (const { zoom, x, features: shown } of tiles) {
      if (shown.length < 2) continue
      const [a, b] = shown.map(({ parts }) => new Set(parts.flat().map(String)))
      const near = (key: string) => {
        const [px, py] = key.split(',').map(Number) as [number, number]
        const lng = ((x + px / EXTENT) / 2 ** zoom) * 360 - 180
        return (
          Math.abs(lng - 10) < 0.0051 && py > -BUFFER && py < EXTENT + BUFFER && px > -BUFFER && px < EXTENT + BUFFER
        )
      }
      expect([...a!].filter(near).toSorted()).toEqual([...b!].filter(near).toSorted())
      compared++
    }
    expect(compared).toBeGreaterThan(10)
  })
})

test('tiny polygons keep their share of the area when they are gathered into squares', async () => {
  const random = seededRandom(8)
  const features = Array.from({ length: 10_000 }, (_, id) => {
    const [lng, lat, side] = [10 + random() * 0.3, 50 + random() * 0.2, 0.00008 + random() * 0.00008]
    return {
      id,
      geometry: polygon([
        [lng, lat],
        [lng + side, lat],
        [lng + side, lat + side],
        [lng, lat + side],
      ]),
    }
  })
  const { tiles } = await build(features, { zooms: [8, 14], maxTileBytes: 5_000_000 })
  const shownArea = (zoom: number) =>
    atZoom(tiles, zoom)
      .flatMap((tile) => tile.features.map(({ parts }) => ({ tile, ring: parts[0]! })))
      .filter(({ ring }) => ring[0]![0] >= 0 && ring[0]![0] < EXTENT && ring[0]![1] >= 0 && ring[0]![1] < EXTENT)
      .reduce((sum, { ring }) => sum + area(ring), 0) /
    4 ** zoom
  for (let zoom = 8; zoom < 14; zoom++) expect(shownArea(zoom) / shownArea(14)).toBeCloseTo(1, 1)
  expect(atZoom(tiles, 9).flatMap((tile) => tile.features).length).toBeLessThan(2500)
})

test('what is smaller than a tile unit is shown at the highest zoom all the same', async () => {
  const speck = (lng: number, lat: number): [number, number][] => [
    [lng, lat],
    [lng + 1e-7, lat],
    [lng, lat + 1e-7],
  ]
  const { tiles } = await build(
    [
      { id: 1, geometry: polygon(speck(1, 1)) },
      { id: 2, geometry: line([1, 2], [1 + 1e-7, 2]) },
      { id: 3, geometry: line([1, 3], [1, 3]) },
      {
        id: 4,
        geometry: polygon([
          [2, 2],
          [2.5, 2.5],
          [2.5, 2.5000001],
        ]),
      },
      {
        id: 5,
        geometry: { type: 'MultiPolygon', coordinates: [[[...speck(4, 4), [4, 4]]], [[...speck(5, 5), [5, 5]]]] },
      },
    ],
    { zooms: [0, 9] },
  )
  const shown = atZoom(tiles, 9).flatMap((tile) => tile.features)
  expect(new Set(shown.map(({ id }) => id))).toEqual(new Set([1, 2, 3, 4, 5]))
  const polygons = shown.filter(({ type }) => type === 'polygon')
  expect(polygons.map(({ parts }) => invalidity(polygonsOf(parts)))).toEqual(polygons.map(() => null))
  expect(idsOf(atZoom(tiles, 8)).has(2)).toBe(false)
})

describe('limits', () => {
  const crowd = (count: number, spread: number) => {
    const random = seededRandom(9)
    return Array.from({ length: count }, (_, id) => ({
      id,
      geometry: point(10 + random() ** 3 * spread, 50 + random() ** 3 * spread),
      properties: { text: Math.floor(random() * 2 ** 48).toString(36) },
    }))
  }

  test('no tile exceeds the cap, nothing is dropped at the highest zoom, the densest places are thinned first', async () => {
    const features = crowd(6000, 5)
    const { tiles, result } = await build(features, { zooms: [0, 10], maxTileBytes: 15_000 })
    expect(Math.max(...tiles.map(({ bytes }) => bytes))).toBeLessThanOrEqual(15_000)
    expect(idsOf(atZoom(tiles, 10)).size).toBe(6000)
    expect(result.dropped).toBeGreaterThan(0)
    const sparse = features
      .filter(({ geometry: { coordinates } }) => (coordinates as number[])[0]! > 14)
      .map(({ id }) => id)
    const shown = idsOf(atZoom(tiles, 4))
    const shareOf = (ids: number[]) => ids.filter((id) => shown.has(id)).length / ids.length
    expect(shareOf(sparse)).toBeGreaterThan(1.5 * shareOf(features.map(({ id }) => id)))
  })

  test('lines with equal attributes become one before any is dropped', async () => {
    const random = seededRandom(3)
    const features = Array.from({ length: 8000 }, (_, id) => {
      const [lng, lat] = [random() * 8, random() * 8]
      return { id, geometry: line([lng, lat], [lng + 0.1, lat + 0.1]), properties: { kind: id % 3 } }
    })
    const { tiles, result } = await build(features, { zooms: [4, 9], maxTileBytes: 40_000 })
    const dense = atZoom(tiles, 4).find(({ x, y }) => x === 8 && y === 7)
    expect(dense!.features).toHaveLength(3)
    expect(dense!.features.map(({ id }) => id)).toEqual([undefined, undefined, undefined])
    expect(dense!.features.reduce((sum, { parts }) => sum + parts.length, 0)).toBe(8000)
    expect(result.dropped).toBe(0)
  })

  test('a cap on features holds below the highest zoom', async () => {
    const { tiles } = await build(crowd(3000, 5), { zooms: [2, 10], maxTileFeatures: 500 })
    expect(Math.max(...tiles.filter(({ zoom }) => zoom < 10).map(({ features }) => features.length))).toBe(500)
    expect(idsOf(atZoom(tiles, 10)).size).toBe(3000)
  })

  test('a tile of the highest zoom loses detail rather than features', async () => {
    const random = seededRandom(6)
    const features = Array.from({ length: 300 }, (_, id) => {
      let [lng, lat] = [random() * 0.6, random() * 0.6]
      const zigzag = Array.from({ length: 100 }, (): [number, number] => [
        (lng += (random() - 0.4) / 300),
        (lat += (random() - 0.4) / 300),
      ])
      return { id, geometry: line(...zigzag) }
    })
    const whole = await build(features, { zooms: [0, 8] })
    const largest = Math.max(...whole.tiles.map(({ bytes }) => bytes))
    const { tiles } = await build(features, { zooms: [0, 8], maxTileBytes: Math.floor(largest * 0.8) })
    expect(Math.max(...tiles.map(({ bytes }) => bytes))).toBeLessThanOrEqual(largest * 0.8)
    expect(idsOf(atZoom(tiles, 8)).size).toBe(300)
    expect(Math.min(...atZoom(tiles, 8).map(({ extent }) => extent))).toBeLessThan(EXTENT)
  })

  test('attributes that cannot fit at the highest zoom are an error that says what to do', async () => {
    const features = crowd(2000, 0.001)
    await expect(build(features, { zooms: [0, 5], maxTileBytes: 5000 })).rejects.toMatchObject({
      code: 'TILE_TOO_LARGE',
      hint: expect.stringContaining('maxTileBytes'),
    })
  })

  test('automatic zooms go as high as the cap asks', async () => {
    const features = crowd(1000, 0.5)
    const free = await build(features, { zooms: 'auto' })
    const { result, tiles } = await build(features, { zooms: 'auto', maxTileBytes: 2500 })
    expect(result.maxZoom).toBeGreaterThan(free.result.maxZoom)
    expect(Math.max(...tiles.map(({ bytes }) => bytes))).toBeLessThanOrEqual(2500)
    expect(idsOf(atZoom(tiles, result.maxZoom)).size).toBe(1000)
  })

  test('a feature that is too large alone gives way to the others below the highest zoom', async () => {
    const long = Array.from({ length: 900 }, (_, i) => Math.sin(i * i).toString(36)).join('')
    const features = [
      { id: 1, geometry: line([0, 0], [40, 40]), properties: { text: long } },
      { id: 2, geometry: line([0, 10], [10, 40]), properties: { text: 'short' } },
    ]
    const { tiles } = await build(features.slice(1), { zooms: [0, 3], maxTileBytes: 4000 })
    expect(tiles.length).toBeGreaterThan(3)
    await expect(build(features, { zooms: [0, 3], maxTileBytes: 4000 })).rejects.toMatchObject({
      code: 'TILE_TOO_LARGE',
    })
  })
})

describe('the edges of the world', () => {
  test('a line across the antimeridian is one line on both sides of it', async () => {
    const { tiles, header } = await build([{ id: 1, geometry: line([179, 10], [181, 10]) }], { zooms: [0, 6] })
    expect(
      atZoom(tiles, 6)
        .map(({ x }) => x)
        .toSorted((a, b) => a - b),
    ).toEqual([0, 63])
    expect([header.minLon, header.maxLon]).toEqual([-180, 180])
    const left = atZoom(tiles, 6).find(({ x }) => x === 0)!
    expect(left.features[0]!.parts[0]![0]![0]).toBe(-BUFFER)
  })

  test('the poles are where Web Mercator ends', async () => {
    const { tiles } = await build(
      [
        { id: 1, geometry: point(0, 90) },
        { id: 2, geometry: point(0, -90) },
      ],
      { zooms: [0, 3] },
    )
    expect(new Set(atZoom(tiles, 3).map(({ y }) => y))).toEqual(new Set([0, 7]))
  })

  test('180 degrees is not lost', async () => {
    const { tiles } = await build([{ id: 1, geometry: point(180, 0) }], { zooms: [3, 3] })
    expect(tiles.some(({ x }) => x === 7)).toBe(true)
  })

  test('a polygon over the whole world is a few bytes: equal tiles are kept once and runs are one entry', async () => {
    const world = polygon([
      [-180, -85.06],
      [180, -85.06],
      [180, 85.06],
      [-180, 85.06],
    ])
    const { tiles, header, bytes } = await build([{ id: 1, geometry: world, properties: { kind: 'water' } }], {
      zooms: [0, 5],
    })
    expect(tiles).toHaveLength((4 ** 6 - 1) / 3)
    expect(header.numTileContents).toBeLessThan(40)
    expect(header.numTileEntries).toBeLessThan(270)
    expect(bytes.length).toBeLessThan(20_000)
    const inner = tiles.find(({ zoom, x, y }) => zoom === 5 && x === 15 && y === 17)!
    expect(polygonsOf(inner.features[0]!.parts)).toHaveLength(1)
    expect(area(inner.features[0]!.parts[0]!)).toBe((EXTENT + 2 * BUFFER) ** 2)
  })
})

test('thousands of scattered tiles take leaf directories, and every one of them can be read', async () => {
  const random = seededRandom(2)
  const features = Array.from({ length: 7000 }, (_, id) => ({
    id,
    geometry: point(random() * 300 - 150, random() * 120 - 60),
    // Sizes that vary, so that the directory compresses badly.
    properties: { n: id, text: Math.floor(random() * 36 ** (random() * 9)).toString(36) },
  }))
  const { header, tiles } = await build(features, { zooms: [12, 12] })
  expect(header.leafDirectoryLength).toBeGreaterThan(0)
  expect(header.rootDirectoryOffset + header.rootDirectoryLength).toBeLessThanOrEqual(16384)
  expect(idsOf(tiles).size).toBe(7000)
})

describe('input', () => {
  test('ids that tiles cannot hold are left out, large ones are exact', async () => {
    const { tiles } = await build(
      [
        { id: -1, geometry: point(1, 1) },
        { id: 1.5, geometry: point(1, 1) },
        { id: 2n ** 40n + 1n, geometry: point(1, 1) },
        { id: 2 ** 52 + 1, geometry: point(1, 1) },
      ],
      { zooms: [1, 1] },
    )
    expect(tiles[0]!.features.map(({ id }) => id)).toEqual([undefined, undefined, 2 ** 40 + 1, 2 ** 52 + 1])
  })

  test('attribute values keep their type, or their digits where JavaScript has no such number', async () => {
    const values = [
      0,
      -0,
      1,
      -1,
      2 ** 53 - 1,
      -(2 ** 53 - 1),
      0.1,
      0.5,
      -1e300,
      5e-324,
      true,
      false,
      '',
      'ä€😀',
      'x'.repeat(5000),
    ]
    const odd = [2n ** 60n, -5n, Number.NaN, Number.POSITIVE_INFINITY, null]
    const { tiles } = await build(
      [...values, ...odd].map((v, id) => ({ id, geometry: point(1, 1), properties: { v } })),
      { zooms: [1, 1] },
    )
    const read = tiles[0]!.features.map(({ properties }) => properties['v'])
    expect(read).toEqual([
      ...values.map((v) => (v === 0 ? 0 : v)),
      '1152921504606846976',
      -5,
      undefined,
      undefined,
      undefined,
    ])
  })

  test('features without a geometry, or outside the Earth, are counted and left out', async () => {
    const { result } = await build(
      [
        { geometry: null },
        { geometry: { type: 'MultiPoint', coordinates: [] } },
        { geometry: { type: 'Point', coordinates: [] } },
        { geometry: point(4_000_000, 5_000_000) },
        { geometry: point(Number.NaN, 5) },
        { geometry: point(1, 1) },
      ],
      { zooms: [0, 2] },
    )
    expect(result).toMatchObject({ features: 1, skipped: 5 })
  })

  test('no features at all, and zooms out of range, are errors', async () => {
    await expect(build([{ geometry: null }])).rejects.toMatchObject({ code: 'NO_FEATURES' })
    for (const zooms of [
      [2, 1],
      [0, 19],
      [-1, 3],
      [0, 2.5],
    ] as const) {
      await expect(build([{ geometry: point(1, 1) }], { zooms })).rejects.toMatchObject({ code: 'BAD_ZOOMS' })
    }
  })

  test('a collection shows its points, lines and polygons', async () => {
    const geometries = [
      point(1, 1),
      line([2, 2], [3, 3]),
      polygon([
        [4, 4],
        [6, 4],
        [6, 6],
      ]),
    ]
    const { tiles } = await build([{ id: 7, geometry: { type: 'GeometryCollection', geometries } }], { zooms: [5, 5] })
    const shown = tiles.flatMap(({ features }) => features)
    expect(new Set(shown.map(({ type }) => type))).toEqual(new Set(['point', 'line', 'polygon']))
    expect(new Set(shown.map(({ id }) => id))).toEqual(new Set([7]))
  })
})

describe('the end of a run', () => {
  const features = randomFeatures(700, 31)
  const attributes = Object.keys(features[0]!.properties!)

  test.each(['read', 'cut', 'encode'])('an abort while it is to %s ends it and leaves no file', async (phase) => {
    const { open, files } = memoryScratch()
    const controller = new AbortController()
    const slow = async function* () {
      for await (const batch of batchesOf(features, attributes, 50)) {
        const busyUntil = performance.now() + 2
        while (performance.now() < busyUntil);
        yield batch
      }
    }
    const promise = buildPmtiles(slow(), {
      layers: [{ name: 'x', attributes }],
      zooms: [0, 10],
      memoryBytes: 1 << 16,
      openScratch: open,
      signal: controller.signal,
      onProgress: (progress) => progress.phase === phase && controller.abort(new Error('enough')),
    })
    await expect(promise).rejects.toThrow('enough')
    expect(files.filter((file) => file.isOpen)).toEqual([])
  })

  test('a full disk ends it at whatever byte, and leaves no file', async () => {
    const whole = memoryScratch()
    const options = { layers: [{ name: 'x', attributes }], zooms: [0, 9] as const, memoryBytes: 1 << 16 }
    const result = await buildPmtiles(batchesOf(features, attributes), { ...options, openScratch: whole.open })
    result[Symbol.dispose]()
    for (let share = 0; share < 1; share += 0.15) {
      const { open, files } = memoryScratch(whole.written() * share)
      await expect(buildPmtiles(batchesOf(features, attributes), { ...options, openScratch: open })).rejects.toThrow(
        'space',
      )
      expect(files.filter((file) => file.isOpen)).toEqual([])
    }
  })

  test('an error of the source comes through', async () => {
    const failing = async function* () {
      yield* batchesOf(features, attributes)
      throw new Error('source gone')
    }
    await expect(buildPmtiles(failing(), { layers: [{ name: 'x', attributes }] })).rejects.toThrow('source gone')
  })
})

function positionsOf(geometry: TestFeature['geometry']): [number, number][] {
  if (!geometry) return []
  if (geometry.geometries) return geometry.geometries.flatMap(positionsOf)
  const flatten = (value: unknown): [number, number][] =>
    typeof (value as number[])[0] === 'number' ? [value as [number, number]] : (value as unknown[]).flatMap(flatten)
  return flatten(geometry.coordinates)
}

describe('points with a drop rate', async () => {
  const random = seededRandom(5)
  const features = Array.from({ length: 4000 }, (_, id) => ({ id, geometry: point(random() * 20, random() * 20) }))
  const { tiles } = await build(features, { zooms: [4, 8], dropRate: 2.5 })

  test('are all there at the highest zoom, and by the rate fewer at each zoom below, the same ones again', () => {
    let above = idsOf(atZoom(tiles, 8))
    expect(above.size).toBe(4000)
    for (const [zoom, wanted] of [
      [7, 1600],
      [6, 640],
      [5, 256],
      [4, 102],
    ] as const) {
      const here = idsOf(atZoom(tiles, zoom))
      expect([zoom, here.size]).toEqual([zoom, expect.closeTo(wanted, -1.3)])
      expect([...here].filter((id) => !above.has(id))).toEqual([])
      above = here
    }
  })
})

test('the center lies within the bounds, however far the middle of its tile is', async () => {
  const { header } = await build([{ id: 1, geometry: point(0.01, 0.01) }], { zooms: [0, 2] })
  expect([header.centerLon, header.centerLat]).toEqual([expect.closeTo(0.01, 6), expect.closeTo(0.01, 6)])
})
