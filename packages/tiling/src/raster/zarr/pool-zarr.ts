import { startPool, type PoolRequest } from '../pool/pool-geotiff.ts'
import type { Pool } from '../pool/pool.ts'
import type { RasterInfo } from '../raster-info.ts'
import { openChunks, type ZarrChunk } from './chunks.ts'
import type { ZarrAxes, ZarrRaster } from './find.ts'
import { product, type ZarrArray } from './metadata.ts'
import { cellsOf, positionOf, type GridCell } from './objects.ts'

/** Channels that follow each other in a chunk. */
interface ChannelRun {
  readonly firstChannel: number
  readonly channels: number
  /** Position of the first in the chunk. */
  readonly at: number
}

/**
 * Pools bands of an array of a store in a folder: each chunk is read once, and chunks without a zone are not read.
 * Where chunks of all bands were never written, or hold the fill value alone, there are no vectors.
 *
 * @throws ZARR_UNUSABLE, BAND_OUT_OF_RANGE
 */
export async function poolZarr(
  folder: string,
  zarr: ZarrRaster,
  raster: RasterInfo,
  request: PoolRequest,
): Promise<Pool> {
  const { zones, bands, onProgress } = request
  const { vectors, scales } = zarr
  const { array, axes } = vectors
  const { nodata } = request.rule
  // Nodata is a stored number: with scales it is compared before them.
  const rule = scales === null ? request.rule : { ...request.rule, nodata: null }
  const { pool } = startPool(raster, { ...request, rule })
  const read = await openChunks(folder, array)
  const readScales = scales === null ? null : await openChunks(folder, scales.array)
  const scalesAt = async (position: readonly number[]) => (await readScales!(position)) ?? filled(scales!.array)
  const thickness = array.chunk[axes.band!]!
  const layers = Math.ceil(raster.samplesPerPixel / thickness)
  const objects = [...cellsOf(vectors, array.object, zones)]
  for (const [done, object] of objects.entries()) {
    onProgress?.({ done, total: objects.length })
    for (const cell of cellsOf(vectors, array.chunk, zones, object)) {
      const factors =
        scales === null ? null : await scalesAt(positionOf(scales, scales.array.chunk, { ...cell, band: 0 }))
      if (scales !== null && factors === null) continue
      const add = (chunk: ZarrChunk, runs: readonly ChannelRun[]): void => {
        const scaled = factors ? scaledBy(chunk, axes, { factors, axes: scales!.axes, cell, thickness, nodata }) : chunk
        addRuns(pool, scaled, { cell, axes, runs })
      }
      const unwritten: ChannelRun[][] = []
      let isWritten = false
      for (let layer = 0; layer < layers; layer++) {
        const runs = runsOf(bands, layer * thickness, thickness)
        if (runs.length === 0) continue
        const chunk = await read(positionOf(vectors, array.chunk, { ...cell, band: layer }))
        if (chunk === null || isFill(chunk, array.fill)) unwritten.push(runs)
        else {
          isWritten = true
          add(chunk, runs)
        }
      }
      const empty = isWritten && unwritten.length > 0 ? filled(array) : null
      if (empty !== null) for (const runs of unwritten) add(empty, runs)
    }
  }
  return pool
}

function addRuns(
  pool: Pool,
  { samples, steps }: ZarrChunk,
  { cell, axes, runs }: { readonly cell: GridCell; readonly axes: ZarrAxes; readonly runs: readonly ChannelRun[] },
): void {
  const { x, y, width, height } = cell
  const bandStep = steps[axes.band!]!
  const layout = { x, y, width, height, samples, pixelStep: steps[axes.x]!, rowStep: steps[axes.y]!, bandStep }
  for (const { firstChannel, channels, at } of runs) {
    pool.add({ ...layout, firstChannel, channels, start: at * bandStep })
  }
}

/** The channels whose bands are `first` to `first + count`. */
function runsOf(bands: readonly number[], first: number, count: number): ChannelRun[] {
  const runs: { firstChannel: number; channels: number; at: number }[] = []
  for (const [channel, band] of bands.entries()) {
    const at = band - first
    if (at < 0 || at >= count) continue
    const last = runs.at(-1)
    if (last && last.firstChannel + last.channels === channel && last.at + last.channels === at) last.channels++
    else runs.push({ firstChannel: channel, channels: 1, at })
  }
  return runs
}

/** A chunk of some bands that was never written; null where it has no values. */
function filled({ fill, chunk, dataType }: ZarrArray): ZarrChunk | null {
  if (fill === null) return null
  const length = product(chunk)
  const samples =
    dataType === 'int8'
      ? new Int8Array(length)
      : dataType === 'uint8'
        ? new Uint8Array(length)
        : new Float64Array(length)
  const steps = chunk.map((_, axis) => product(chunk.slice(axis + 1)))
  return { samples: samples.fill(fill), steps }
}

function isFill({ samples }: ZarrChunk, fill: number | null): boolean {
  return fill !== null && samples.every((value) => Object.is(value, fill))
}

/** Stored numbers times the factor of their pixel; NaN for nodata. */
function scaledBy(
  { samples, steps }: ZarrChunk,
  axes: ZarrAxes,
  by: {
    readonly factors: ZarrChunk
    readonly axes: ZarrAxes
    readonly cell: GridCell
    readonly thickness: number
    readonly nodata: number | null
  },
): ZarrChunk {
  const values = new Float32Array(samples.length)
  const [across, down, deep] = [steps[axes.x]!, steps[axes.y]!, steps[axes.band!]!]
  for (let y = 0; y < by.cell.height; y++) {
    for (let x = 0; x < by.cell.width; x++) {
      const factor = by.factors.samples[y * by.factors.steps[by.axes.y]! + x * by.factors.steps[by.axes.x]!]!
      const first = y * down + x * across
      for (let i = 0, at = first; i < by.thickness; i++, at += deep) {
        values[at] = samples[at] === by.nodata ? Number.NaN : samples[at]! * factor
      }
    }
  }
  return { samples: values, steps }
}
