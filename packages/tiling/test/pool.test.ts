import { writeGeoTiff, type FixtureType, type GeoTiffOptions } from '@terrane/testing/geotiff'
import { randomCases } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import {
  areaZones,
  bufferSource,
  openGeoTiff,
  planTiles,
  poolGeoTiff,
  tileZones,
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
    const [width, height, bands] = [whole(1, 70), whole(1, 50), whole(1, 6)]
    const nodata = pick(null, type === 'int8' ? -128 : 0)
    const low = type === 'int8' ? -128 : 0
    const pixels = Array.from({ length: width * height * bands }, () => low + whole(0, 200))
    const read = (x: number, y: number, w: number, h: number) =>
      Array.from({ length: w * h * bands }, (_, i) => {
        const [band, pixel] = [i % bands, Math.floor(i / bands)]
        return pixels[((y + Math.floor(pixel / w)) * width + x + (pixel % w)) * bands + band]!
      })
    const options: GeoTiffOptions = {
      type,
      planar: pick(true, false),
      ...pick<Partial<GeoTiffOptions>>({ tileSize: 16 }, { tileSize: 32 }, { rowsPerStrip: 7 }),
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
            const stored = pixels[(y * width + x) * bands + band]!
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
