import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { TerraneError, seededRandom } from '@terrane/core'
import {
  bufferSource,
  createTileReader,
  estimateScale,
  inspectGeoTiff,
  openGeoTiff,
  readWindow,
} from '../../src/raster/index.ts'
import type { Line } from './gdal-differences.ts'
import { bytesOf, compareWithGdal } from './gdal-differences.ts'

// oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
const [python = 'python3', ...start] = (process.env['GDAL_PYTHON'] ?? 'python3').split(' ')
const script = readFileSync(join(import.meta.dirname, 'gdal-rasters.py'), 'utf8')

interface Range {
  readonly seed: number
  readonly first: number
  readonly stop: number
  readonly mode?: 'patched'
}

function runGdal({ seed, first, stop, mode }: Range): { readonly ended: boolean; readonly lines: Line[] } {
  const args = [...start, '-', String(seed), String(first), String(stop), ...(mode === undefined ? [] : [mode])]
  const { status, stdout } = spawnSync(python, args, { input: script, encoding: 'utf8', maxBuffer: 2 ** 30 })
  const lines = (stdout ?? '').split('\n').slice(0, -1)
  return { ended: status === 0, lines: lines.map((line) => JSON.parse(line) as Line) }
}

/** Files of a seed, with GDAL's reading of each; those on which GDAL itself crashes are left out. */
function gdalFiles(seed: number, count: number, mode?: 'patched'): Line[] {
  const found: Line[] = []
  for (let first = 0; first < count;) {
    const { ended, lines } = runGdal({ seed, first, stop: count, ...(mode === undefined ? {} : { mode }) })
    found.push(...lines)
    first = ended ? count : (lines.at(-1)?.number ?? first - 1) + 2
  }
  return found
}

const there = runGdal({ seed: 0, first: 0, stop: 1 }).ended

test.skipIf(there)('SKIPPED: no Python with GDAL and NumPy, set GDAL_PYTHON to a command that runs one', () => {
  expect(there).toBe(false)
})

/** The only codes that may refuse files written by GDAL. */
const REFUSED = /^(UNSUPPORTED_COMPRESSION|UNSUPPORTED_DTYPE|UNSUPPORTED_LAYOUT|OUTSIDE_CRS): /

describe.runIf(there)('rasters of random creation options', () => {
  test('have the headers, samples, valid pixels and corners that GDAL reads, or are refused by name', async () => {
    const lines = gdalFiles(101, 300)
    let read = 0
    for (const { number, spec, file, gdal } of lines) {
      const { refused, differences } = await compareWithGdal(bytesOf(file), gdal as NonNullable<typeof gdal>)
      const name = `${number} ${JSON.stringify(spec)}`
      expect({ name, differences }).toEqual({ name, differences: [] })
      if (refused === null) read++
      else expect(refused, name).toMatch(REFUSED)
    }
    expect(lines.length).toBeGreaterThan(290)
    expect(read).toBeGreaterThan(250)
  })

  test('whose tags were changed have the samples that GDAL reads, or are refused', async () => {
    const lines = gdalFiles(102, 500, 'patched')
    let read = 0
    for (const { number, spec, changes, file, gdal } of lines) {
      if (gdal === null) {
        await readEverything(bytesOf(file))
        continue
      }
      const { refused, differences } = await compareWithGdal(bytesOf(file), gdal, 'pixels')
      const name = `${number} ${JSON.stringify(spec)} ${changes?.join()}`
      expect({ name, differences }).toEqual({ name, differences: [] })
      if (refused === null) read++
    }
    expect(read).toBeGreaterThan(120)
  })

  test('with damage anywhere are read or refused, and take no more memory for it', async () => {
    const files = gdalFiles(103, 200)
      .map(({ file }) => bytesOf(file))
      .filter(({ length }) => length < 60_000)
    const random = seededRandom(103)
    const outcomes = new Map<string, number>()
    const before = process.memoryUsage().rss
    for (let round = 0; round < 5_000; round++) {
      const whole = files[Math.floor(random() * files.length)] as Uint8Array
      const outcome = await readEverything(damaged(whole, random))
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    }
    for (const code of ['read', 'GEOTIFF_TRUNCATED', 'GEOTIFF_MALFORMED', 'CORRUPT_TILE']) {
      expect(outcomes.get(code), code).toBeGreaterThan(100)
    }
    expect((process.memoryUsage().rss - before) / 1e6).toBeLessThan(700)
  })
})

/** Numbers that break what trusts them. */
const EXTREMES = [0, 1, 2, 255, 256, 65_535, 65_536, 0x7fffffff, 0x80000000, 0xffffffff, 1_000_000]

function damaged(whole: Uint8Array, random: () => number): Uint8Array {
  const bytes = Uint8Array.from(whole)
  const view = new DataView(bytes.buffer)
  const below = (limit: number): number => Math.floor(random() * limit)
  // Half of the damage goes to the headers, which are a small part of the file.
  const reach = random() < 0.5 ? Math.min(700, bytes.length) : bytes.length
  for (let changes = 1 + below(3); changes > 0; changes--) {
    const at = below(reach)
    const kind = below(6)
    if (kind < 2) bytes[at] = below(256)
    else if (kind === 2 && at + 4 <= bytes.length) view.setUint32(at, EXTREMES[below(EXTREMES.length)] as number, true)
    else if (kind === 3) bytes.fill(below(2) * 255, at, at + below(40))
    else if (kind === 4) bytes.copyWithin(at, below(reach), below(reach))
    else if (below(4) === 0) return bytes.slice(0, at)
  }
  return bytes
}

/** Reads all of a file as a job would, and its bands as they are where it has no place; the code of what goes wrong. */
async function readEverything(bytes: Uint8Array): Promise<string> {
  const source = bufferSource(bytes)
  try {
    const found = openGeoTiff(source)
    if (found.affine === null && found.width * found.height < 1e6) {
      await readWindow(source, found, { x: 0, y: 0, width: found.width, height: found.height, band: 0 })
    }
    const maxTiles = { limit: 64, setting: 'MAX_TILES' }
    const { raster, plan, bands } = inspectGeoTiff(source, { tileSize: 128, channels: ['gray'], bands: [0], maxTiles })
    const scale = await estimateScale(source, raster, bands)
    const reader = createTileReader({ source, raster, plan, bands, scale, mean: [0], std: [1] })
    const out = new Float32Array(128 * 128)
    for (let index = 0; index < plan.count; index++) {
      const { validFraction } = await reader.read(index, out)
      expect(validFraction >= 0 && validFraction <= 1 && out.every(Number.isFinite)).toBe(true)
    }
    return 'read'
  } catch (error) {
    if (!(error instanceof TerraneError)) throw error
    return error.code
  }
}
