import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TerraneError, seededRandom } from '@terrane/core'
import { openFileSource, openRenderer, RESAMPLINGS, tileView } from '../../src/raster/index.ts'
import type { RasterRenderer, RenderResampling } from '../../src/raster/index.ts'
import { sharedFolder } from '../shared.ts'

const script = join(import.meta.dirname, 'render-gdal.py')
const SIZE = 256
const VIEWS = 5
/**
 * Share of pixels that may differ where it is not 0.1 %: gdalwarp's spline is negative beyond its end when it is widened,
 * and its means have a pixel where only an edge of it lies on the raster.
 */
const LIMITS: Partial<Record<RenderResampling, number>> = {
  cubic_spline: 0.004,
  average: 0.002,
  mode: 0.004,
  rms: 0.002,
}

const folders = ['geotiff', 'geotiff-synthetic']
  .map((name) => join(sharedFolder('data') ?? '', name))
  .filter(existsSync)
const files = folders.flatMap((folder) => readdirSync(folder).map((name) => join(folder, name)))
// The command may run in another root without these files; Debian's bindings are for its own Python.
// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const oracle = [process.env['GDAL_PYTHON'] ?? 'python3', 'python3', '/usr/bin/python3']
  .map((command) => command.split(' '))
  .find((command) => {
    const look = `import numpy; from osgeo import gdal; [open(path) for path in ${JSON.stringify([script, files[0]])}]`
    return files.length > 0 && spawnSync(command[0]!, [...command.slice(1), '-c', look]).status === 0
  })
const there = oracle !== undefined

/** Named by one of these, a file cannot be drawn. */
const REFUSED = /^(NO_GEOREFERENCE|UNSUPPORTED_\w+|GEOTIFF_\w+|NOT_A_GEOTIFF|CORRUPT_TILE)$/

interface Wanted {
  readonly file: string
  readonly z: number
  readonly x: number
  readonly y: number
  readonly overview: number
}

interface Warped {
  readonly bands?: readonly string[]
  readonly valid?: string
  readonly error?: string
}

test.skipIf(there)(
  'SKIPPED: no Python with GDAL and NumPy (GDAL_PYTHON), or no shared rasters (TERRANE_SHARED)',
  () => {
    expect(there).toBe(false)
  },
)

describe.runIf(there)('pictures of tiles beside gdalwarp with an exact transform and one overview', () => {
  for (const resampling of RESAMPLINGS) {
    const limit = LIMITS[resampling] ?? 0.001
    test(`${resampling}: all but ${limit * 100} % of the pixels of random views are within 1 DN after rescaling`, async () => {
      const views = files.flatMap((file) => viewsOf(file))
      const warped = warp(views.map((view) => ({ ...view, size: SIZE, resampling })))
      let [pixels, wrong, drawn] = [0, 0, 0]
      const worst: string[] = []
      for (const [i, view] of views.entries()) {
        const gdal = warped[i] as Warped
        if (gdal.error !== undefined) continue
        const counted = await compare(view, gdal, resampling)
        if (counted === null) continue
        pixels += counted.pixels
        wrong += counted.wrong
        drawn++
        if (counted.wrong > counted.pixels / 1000) {
          worst.push(
            `${view.file.split('/').at(-1)} ${view.z}/${view.x}/${view.y}: ${counted.wrong} of ${counted.pixels}`,
          )
        }
      }
      const told = `${resampling}: ${drawn} views, ${wrong} of ${pixels} pixels differ by more than 1 DN\n${worst.join('\n')}`
      expect(drawn).toBeGreaterThan(100)
      expect(wrong / pixels, told).toBeLessThan(limit)
    })
  }
})

function open(file: string): RasterRenderer | null {
  try {
    return openRenderer(openFileSource(file))
  } catch (error) {
    if (error instanceof TerraneError && REFUSED.test(error.code)) return null
    throw error
  }
}

function viewsOf(file: string): Wanted[] {
  const renderer = open(file)
  if (renderer === null) return []
  const { bounds, minzoom, maxzoom, raster } = renderer
  const random = seededRandom(file.length * 31 + raster.width)
  return Array.from({ length: VIEWS }, (_, i) => {
    const z = i === 0 ? minzoom : Math.min(22, minzoom + Math.floor(random() * (maxzoom + 2 - minzoom)))
    const [west, south, east, north] = bounds
    const span = east > west ? east - west : east + 360 - west
    const lng = ((west + random() * span + 540) % 360) - 180
    const lat = Math.max(-85, Math.min(85, south + random() * (north - south)))
    const n = 2 ** z
    const x = Math.min(n - 1, Math.floor(((lng + 180) / 360) * n))
    const y = Math.min(
      n - 1,
      Math.max(0, Math.floor((0.5 - Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360)) / (2 * Math.PI)) * n)),
    )
    return { file, z, x, y, overview: overviewOf(renderer, z, x, y) }
  })
}

/** The overview that the renderer chooses, which GDAL is told to take. */
function overviewOf(renderer: RasterRenderer, z: number, x: number, y: number): number {
  return renderer.levelOf(tileView(z, x, y, SIZE))
}

function warp(views: readonly object[]): Warped[] {
  const input = views.map((view) => JSON.stringify(view)).join('\n')
  const [python = '', ...start] = oracle ?? []
  const { stdout, stderr, status } = spawnSync(python, [...start, script], {
    input,
    encoding: 'utf8',
    maxBuffer: 2 ** 31 - 1,
  })
  if (status !== 0) throw new Error(stderr)
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Warped)
}

/** Pixels that both have, and pixels with a band that differs by more than 1 after rescaling to 0 … 255. */
async function compare(
  { file, z, x, y }: Wanted,
  gdal: Warped,
  resampling: RenderResampling,
): Promise<{ pixels: number; wrong: number } | null> {
  const renderer = open(file) as RasterRenderer
  const { raster, defaultBands } = renderer
  if (raster.palette !== null) return null
  let rescale: readonly (readonly [number, number])[]
  try {
    rescale = await renderer.limits(defaultBands)
  } catch (error) {
    if (error instanceof TerraneError && error.code === 'NO_VALID_PIXELS') return null
    throw error
  }
  const picture = await renderer.render(tileView(z, x, y, SIZE), { rescale, resampling })
  const valid = Buffer.from(gdal.valid as string, 'base64')
  const bands = defaultBands.map((band) => {
    const bytes = Buffer.from((gdal.bands as string[])[band - 1] as string, 'base64')
    return new Float64Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  })
  let wrong = 0
  for (let i = 0; i < SIZE * SIZE; i++) {
    const has = picture !== null && (picture.rgba[4 * i + 3] as number) > 0
    if (has !== (valid[i] === 1)) wrong++
    else if (
      has &&
      bands.some(
        (values, b) =>
          Math.abs(
            byteOf(values[i] as number, rescale[b] as readonly [number, number]) - (picture.rgba[4 * i + b] as number),
          ) > 1,
      )
    )
      wrong++
  }
  return { pixels: SIZE * SIZE, wrong }
}

function byteOf(value: number, [min, max]: readonly [number, number]): number {
  return Math.max(0, Math.min(255, ((value - min) / (max - min)) * 255))
}
