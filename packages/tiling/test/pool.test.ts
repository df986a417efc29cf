import { writeGeoTiff, type FixtureType, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { randomCases } from '@terrane/testing/property'
import proj4 from 'proj4'
import { expect, test } from 'vitest'
import {
  areaZones,
  bufferSource,
  openGeoTiff,
  planTiles,
  poolGeoTiff,
  tileZones,
  toPixels,
  type Affine,
  type Statistic,
} from '../src/raster/index.ts'

const STATISTICS: readonly Statistic[] = ['mean', 'max', 'std']

/** Statistics of values by their definitions. */
function statisticsOf(values: readonly number[]): Record<Statistic, number> {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length
  return { mean, max: Math.max(...values), std: Math.sqrt(variance) }
}

test('pools are those of brute force, whatever the type and layout of the file', async () => {
  await randomCases(40, async (random) => {
    const pick = <T>(...choices: readonly T[]): T => choices[Math.floor(random() * choices.length)]!
    const whole = (least: number, most: number) => least + Math.floor(random() * (most - least + 1))
    const type = pick<FixtureType>('int8', 'uint8', 'int16', 'float32', 'float16')
    const [width, height, bands] = [whole(1, 70), whole(1, 50), whole(1, 9)]
    const nodata = pick(null, type === 'int8' ? -128 : 0)
    const low = type === 'int8' ? -128 : 0
    const pixels = Array.from({ length: width * height * bands }, () => low + whole(0, 200))
    const read = (x: number, y: number, w: number, h: number) =>
      Array.from({ length: w * h * bands }, (_, i) => {
        const [band, pixel] = [i % bands, Math.floor(i / bands)]
        return pixels[((y + Math.floor(pixel / w)) * width + x + (pixel % w)) * bands + band]!
      })
    const side = pick(16, 32, 7)
    // Blocks that were never written: nodata, or 0.
    const isSparse = pick(
      () => false,
      (column: number, row: number) => side !== 7 && (column + row) % 2 === 1,
    )
    const options: GeoTiffOptions = {
      type,
      planar: pick(true, false),
      isSparse,
      ...(side === 7 ? { rowsPerStrip: side } : { tileSize: side }),
      compression: pick('none', 'deflate', 'zstd'),
      ...(nodata !== null && { nodata: String(nodata) }),
    }
    const source = bufferSource(await writeGeoTiff({ width, height, bands, read }, options))
    const raster = openGeoTiff(source)
    const plan = planTiles({ width, height, tileSize: whole(1, 40) })
    const chosen = Array.from({ length: whole(1, bands) }, () => whole(0, bands - 1))
    const isSquare = pick(true, false)
    const rule = { scale: 1 / 127.5, offset: isSquare ? 0 : 0.25, isSquare, nodata }
    const statistics = pick(['mean'] as const, ['std', 'mean'] as const, STATISTICS)
    const pool = await poolGeoTiff(source, raster, { zones: tileZones(plan), bands: chosen, rule, statistics })
    for (let tile = 0; tile < plan.count; tile++) {
      const [left, top] = [(tile % plan.columns) * plan.tileSize, Math.floor(tile / plan.columns) * plan.tileSize]
      const channels = chosen.map((band) => {
        const values: number[] = []
        for (let y = top; y < Math.min(height, top + plan.tileSize); y++) {
          for (let x = left; x < Math.min(width, left + plan.tileSize); x++) {
            const isEmpty = isSparse(Math.floor(x / side), Math.floor(y / side))
            const stored = isEmpty ? (nodata ?? 0) : pixels[(y * width + x) * bands + band]!
            if (stored === nodata) continue
            const linear = stored * rule.scale + rule.offset
            values.push(isSquare ? Math.sign(linear) * linear ** 2 : linear)
          }
        }
        return values
      })
      expect(pool.validPixels(tile)).toBe(Math.min(...channels.map((values) => values.length)))
      if (channels.some((values) => values.length === 0)) continue
      const found = new Float32Array(statistics.length * chosen.length)
      pool.write(tile, found, false)
      const wanted = statistics.flatMap((name) => channels.map((values) => statisticsOf(values)[name]))
      for (const [i, value] of wanted.entries()) expect(Math.abs(found[i]! - value)).toBeLessThan(1e-6)
    }
  })
})

test('areas are the pixels whose centre lies within, and areas with a common edge share no pixel', async () => {
  await randomCases(60, (random) => {
    const [width, height] = [30, 20]
    const corner = () => [random() * 40 - 5, random() * 30 - 5] as const
    const [a, b, c, d] = [corner(), corner(), corner(), corner()]
    const areas = [[Float64Array.of(...a, ...b, ...c)], [Float64Array.of(...a, ...c, ...d)], [Float64Array.of(...a, ...b, ...c), Float64Array.of(...a, ...c, ...d)]] // prettier-ignore
    const zones = areaZones(width, height, areas)
    const covered = areas.map(() => new Uint8Array(width * height))
    for (let y = 0; y < height; y++) {
      for (let run = zones.rowStarts[y]!; run < zones.rowStarts[y + 1]!; run++) {
        for (let x = zones.starts[run]!; x < zones.ends[run]!; x++) covered[zones.zones[run]!]![y * width + x]! ^= 1
      }
    }
    const within = ([p, q, r]: readonly (readonly [number, number])[], x: number, y: number): boolean => {
      const side = ([ax, ay]: readonly [number, number], [bx, by]: readonly [number, number]) =>
        Math.sign((bx - ax) * (y - ay) - (by - ay) * (x - ax))
      return Math.abs(side(p!, q!) + side(q!, r!) + side(r!, p!)) === 3
    }
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const at = y * width + x
        expect(covered[0]!.at(at) === 1).toBe(within([a, b, c], x + 0.5, y + 0.5))
        expect(covered[2]![at]!).toBe(covered[0]![at]! ^ covered[1]![at]!)
      }
    }
  })
})

const DEGREES = '+proj=longlat +datum=WGS84 +no_defs'
const POLAR = '+proj=stere +lat_0=90 +lat_ts=71 +lon_0=-45 +datum=WGS84 +units=m +no_defs'
const box = (west: number, south: number, east: number, north: number) =>
  Float64Array.of(west, south, east, south, east, north, west, north)

/** Rasters that reach where longitudes jump: their reference system, affine and size. */
const GROUNDS: readonly [string, string, Affine, number, number][] = [
  ['over the antimeridian', DEGREES, [170, 0.5, 0, 85, 0, -0.5], 40, 60],
  ['over the antimeridian in the west', DEGREES, [-190, 0.5, 0, 85, 0, -0.5], 40, 60],
  ['from 0 to 360', DEGREES, [0, 3, 0, 90, 0, -3], 120, 60],
  ['of the whole world', DEGREES, [-180, 3, 0, 90, 0, -3], 120, 60],
  ['of another datum', '+proj=longlat +ellps=bessel +towgs84=598.1,73.7,418.2,0.202,0.045,-2.455,6.7 +no_defs', [170, 0.5, 0, 85, 0, -0.5], 40, 60], // prettier-ignore
  ['around a pole', POLAR, [-3.9e6, 1.3e5, 0, 3.9e6, 0, -1.3e5], 60, 60],
  ['in a projection over the antimeridian', '+proj=utm +zone=1 +datum=WGS84', [2e5, 1e4, 0, 8.2e6, 0, -1e4], 60, 60],
]

test.for(GROUNDS)('areas in degrees are the pixels whose centre lies within, in a raster %s', async (ground) => {
  const [, definition, affine, width, height] = ground
  const crs = { epsg: null, name: '', definition, exceptions: [] }
  const [x0, xc, , y0, , yr] = affine
  const { inverse } = proj4(definition)
  const [wide, cap] = [box(-170, 50, 40, 80.3), box(-180, 71.2, 180, 90)]
  const split = [box(171.3, 60.1, 180, 75.2), box(-180, 60.1, -172.2, 75.2)]
  // Projections have coordinates only for near positions.
  const areasOf = (triangle: Float64Array) =>
    definition.includes('utm') ? [split] : definition === POLAR ? [split, [wide], [cap], [triangle]] : [split, [wide], [cap], [triangle], [box(-180, -90, 180, 90)]] // prettier-ignore
  await randomCases(12, (random) => {
    const lng = random() * 350 - 175
    const triangle = Float64Array.of(lng, 40 + random() * 45, random() * 360 - 180, 40 + random() * 45, lng - 5, 60)
    const areas = areasOf(triangle)
    const wrong: number[][] = []
    const zones = areaZones(width, height, areas.map(toPixels(crs, affine)))
    for (let y = 0; y < height; y++) {
      for (let x = 0; x < width; x++) {
        const runs = Array.from(zones.zones.subarray(zones.rowStarts[y], zones.rowStarts[y + 1]), (zone, i) => [zone, zones.starts[zones.rowStarts[y]! + i]!, zones.ends[zones.rowStarts[y]! + i]!] as const) // prettier-ignore
        const at = [x0 + (x + 0.5) * xc, y0 + (y + 0.5) * yr]
        const [longitude, latitude] = inverse(at) as [number, number]
        const turned = longitude - 360 * Math.round(longitude / 360)
        for (const [zone, rings] of areas.entries()) {
          const isIn = runs.some(([one, start, end]) => one === zone && start <= x && x < end)
          const [found, distance] = [isInside(rings, turned, latitude), Math.min(...rings.map((ring) => distanceTo(ring, turned, latitude)))] // prettier-ignore
          if (isIn !== found && distance > 1e-3) wrong.push([zone, x, y, turned, latitude])
        }
      }
    }
    expect(wrong).toEqual([])
  })
})

/** By the even-odd rule. */
function isInside(rings: readonly Float64Array[], x: number, y: number): boolean {
  let crossings = 0
  for (const ring of rings) {
    for (let i = 0; i < ring.length; i += 2) {
      const [ax, ay, bx, by] = edgeOf(ring, i)
      if (ay > y !== by > y && x < ax + ((y - ay) / (by - ay)) * (bx - ax)) crossings++
    }
  }
  return crossings % 2 === 1
}

function distanceTo(ring: Float64Array, x: number, y: number): number {
  let least = Infinity
  for (let i = 0; i < ring.length; i += 2) {
    const [ax, ay, bx, by] = edgeOf(ring, i)
    const length = (bx - ax) ** 2 + (by - ay) ** 2
    const t = length === 0 ? 0 : Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length))
    least = Math.min(least, Math.hypot(ax + t * (bx - ax) - x, ay + t * (by - ay) - y))
  }
  return least
}

function edgeOf(ring: Float64Array, i: number): [number, number, number, number] {
  const next = (i + 2) % ring.length
  return [ring[i]!, ring[i + 1]!, ring[next]!, ring[next + 1]!]
}

test('an area with a position that has no place in the reference system is left out whole', () => {
  const crs = { epsg: null, name: '', definition: '+proj=merc +datum=WGS84', exceptions: [] }
  const place = toPixels(crs, [0, 1e5, 0, 1e7, 0, -1e5])
  expect(place([box(0, 0, 10, 10)])).toHaveLength(1)
  expect(place([box(0, 0, 10, 10), box(20, 80, 30, 90)])).toEqual([])
})

test('nodata of single precision and what is not finite are no values', async () => {
  const values = [-3.4e38, Infinity, 1, 2, -Infinity, Number.NaN]
  const read = (x: number, _y: number, w: number) => values.slice(x, x + w)
  const options: GeoTiffOptions = { type: 'float32', rowsPerStrip: 1, nodata: '-3.4e38' }
  const source = bufferSource(await writeGeoTiff({ width: 6, height: 1, bands: 1, read }, options))
  const raster = openGeoTiff(source)
  const rule = { scale: 1, offset: 0, isSquare: false, nodata: raster.nodata }
  const zones = tileZones(planTiles({ width: 6, height: 1, tileSize: 6 }))
  const pool = await poolGeoTiff(source, raster, { zones, bands: [0], rule, statistics: ['mean', 'max'] })
  const found = new Float32Array(2)
  pool.write(0, found, false)
  expect([pool.validPixels(0), ...found]).toEqual([2, 1.5, 2])
})

test.each([
  ['float32', 'nan', [32, 2]],
  ['float32', '7', [32, 2]],
  ['float32', undefined, [64, 1]],
  // Nodata beyond the type masks nothing, and is clamped in blocks that were never written, as in GDAL.
  ['uint8', '300', [64, 128.5]],
] as const)('blocks of %s that were never written hold nodata %s, or 0', async (type, nodata, wanted) => {
  const read = (_x: number, _y: number, w: number, h: number) => Array.from({ length: w * h }, () => 2)
  const isSparse = (column: number) => column === 1
  const options: GeoTiffOptions = { type, tileSize: 16, isSparse, ...(nodata !== undefined && { nodata }) }
  const source = bufferSource(await writeGeoTiff({ width: 32, height: 2, bands: 1, read }, options))
  const raster = openGeoTiff(source)
  const rule = { scale: 1, offset: 0, isSquare: false, nodata: raster.nodata }
  const zones = tileZones(planTiles({ width: 32, height: 2, tileSize: 32 }))
  const pool = await poolGeoTiff(source, raster, { zones, bands: [0], rule, statistics: ['mean'] })
  const mean = new Float32Array(1)
  pool.write(0, mean, false)
  expect([pool.validPixels(0), mean[0]]).toEqual(wanted)
})

test('a row of more pixels than one sum has room for is pooled whole, gaps included', async () => {
  const width = 150_000
  const read = (x: number, _y: number, w: number) =>
    Array.from({ length: w }, (__, i) => ((x + i) % 3 === 0 ? -128 : 127))
  const source = bufferSource(
    await writeGeoTiff({ width, height: 1, bands: 1, read }, { type: 'int8', rowsPerStrip: 1 }),
  )
  const plan = planTiles({ width, height: 1, tileSize: width })
  const rule = { scale: 1, offset: 0, isSquare: true, nodata: -128 }
  const request = { zones: tileZones(plan), bands: [0], rule, statistics: ['mean'] as const }
  const pool = await poolGeoTiff(source, openGeoTiff(source), request)
  const mean = new Float32Array(1)
  pool.write(0, mean, false)
  expect([pool.validPixels(0), mean[0]]).toEqual([100_000, 127 * 127])
})
