import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import type { StacCase } from './cases.ts'

const script = readFileSync(new URL('./gdal.py', import.meta.url), 'utf8')

/** The command that runs Python with GDAL's bindings and NumPy (`GDAL_PYTHON`); null when there is none. */
export function gdalPython(): readonly string[] | null {
  // oxlint-disable-next-line node/no-process-env -- The command that runs Python with GDAL's bindings.
  const commands = [process.env['GDAL_PYTHON'] ?? 'python3', 'python3', '/usr/bin/python3']
  const found = commands
    .map((command) => command.split(' '))
    .find(([command, ...more]) => {
      const look = 'import numpy; from osgeo import gdal'
      return spawnSync(command!, [...more, '-c', look]).status === 0
    })
  return found ?? null
}

/** Bands of a scene on the grid of its finest file. */
export interface GdalStack {
  readonly width: number
  readonly height: number
  /** GDAL's geotransform. */
  readonly affine: readonly [number, number, number, number, number, number]
  /** EPSG code. */
  readonly epsg: number
  readonly bands: readonly {
    /** Whether the file has another grid. */
    readonly resampled: boolean
    readonly values: Float64Array
    readonly valid: Uint8Array
    /** Tags of the file; null without. */
    readonly scale: number | null
    readonly offset: number | null
  }[]
  /** 1 for pixels that the mask excludes. */
  readonly masked: Uint8Array
}

/**
 * Stacks the bands of a case by gdalwarp with an exact transform: bilinear where grids differ, its mask by the nearest
 * pixel.
 */
export function stackByGdal(
  [command, ...more]: readonly string[],
  { bands, mask }: Pick<StacCase, 'bands'> & { readonly mask?: StacCase['mask'] | undefined },
  files: ReadonlyMap<string, Uint8Array>,
): GdalStack {
  const data = Object.fromEntries([...files].map(([name, bytes]) => [name, Buffer.from(bytes).toString('base64')]))
  const { stdout, stderr, status } = spawnSync(command!, [...more, '-c', script], {
    input: JSON.stringify({ files: data, bands, mask: mask ?? null }),
    encoding: 'utf8',
    maxBuffer: 2 ** 30,
  })
  if (status !== 0) throw new Error(stderr)
  const answer = JSON.parse(stdout) as {
    grid: { width: number; height: number; affine: GdalStack['affine']; epsg: number }
    bands: { resampled: boolean; values: string; valid: string; scale: number | null; offset: number | null }[]
    masked: string
  }
  return {
    ...answer.grid,
    bands: answer.bands.map((band) => ({
      ...band,
      values: new Float64Array(bytesOf(band.values).buffer),
      valid: bytesOf(band.valid),
    })),
    masked: bytesOf(answer.masked),
  }
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.from(text, 'base64'))
}
