import { createBlockReader, emptySample } from '../decode/block-reader.ts'
import { storedNodata } from '../stored-nodata.ts'
import { bandOutOfRange, unsupportedLayout } from '../errors.ts'
import type { RasterInfo } from '../raster-info.ts'
import type { ByteSource } from '../source.ts'
import { Pool, type Statistic, type ValueRule } from './pool.ts'
import { hasZones, type Zones } from './zones.ts'

export interface PoolRequest {
  readonly zones: Zones
  /** 0-based indices of the bands that form a vector, in their order. */
  readonly bands: readonly number[]
  readonly rule: ValueRule
  readonly statistics: readonly Statistic[]
  /** Called from time to time with the number of finished blocks and of all blocks. */
  readonly onProgress?: (progress: { readonly done: number; readonly total: number }) => void
}

/**
 * Makes an empty pool for a raster, and converts the nodata value of the rule to the sample type.
 *
 * @throws BAND_OUT_OF_RANGE, UNSUPPORTED_LAYOUT
 */
export function startPool(raster: RasterInfo, request: PoolRequest): { readonly pool: Pool; readonly rule: ValueRule } {
  const { zones, bands, statistics } = request
  const nodata = storedNodata(request.rule.nodata, raster)
  const rule = { ...request.rule, nodata: Number.isNaN(nodata) ? null : nodata }
  for (const [position, band] of bands.entries()) {
    if (band >= raster.samplesPerPixel) throw bandOutOfRange({ band, position, bands: raster.samplesPerPixel })
  }
  if (raster.palette !== null || raster.mask !== null) {
    throw unsupportedLayout({ layout: 'A raster of vectors with a palette or a mask of its own' })
  }
  const { sampleType } = raster
  const bytes = sampleType === 'int8' || sampleType === 'uint8' ? sampleType : null
  return { pool: new Pool(zones, bands.length, rule, { statistics, bytes }), rule }
}

/**
 * Pools bands of a raster: each block is read once, and blocks without a zone are not read.
 *
 * @throws CORRUPT_TILE, BAND_OUT_OF_RANGE, UNSUPPORTED_LAYOUT, VALUES_NOT_FINITE
 */
export async function poolGeoTiff(source: ByteSource, raster: RasterInfo, request: PoolRequest): Promise<Pool> {
  const { zones, bands, onProgress } = request
  const { pool } = startPool(raster, request)
  const { blocksAcross, blocksDown, blockWidth, blockHeight, width, height, planar, samplesPerPixel } = raster
  const isUnwritten = (index: number): boolean => raster.blockByteCounts[index] === 0
  const empty = emptySample(raster, request.rule.nodata ?? 0)
  const reader = createBlockReader({ source, level: raster, name: 'image', empty, cacheBytes: 0 })
  const cells = blocksAcross * blocksDown
  // Consecutive bands of the file are read in one pass.
  const isInOrder = bands.every((band, i) => band === bands[0]! + i)
  for (let cell = 0; cell < cells; cell++) {
    const x = (cell % blocksAcross) * blockWidth
    const y = Math.floor(cell / blocksAcross) * blockHeight
    const rect = { x, y, width: Math.min(blockWidth, width - x), height: Math.min(blockHeight, height - y) }
    onProgress?.({ done: cell, total: cells })
    if (!hasZones(zones, rect)) continue
    if (planar) {
      for (const [channel, band] of bands.entries()) {
        const at = { ...rect, firstChannel: channel, channels: 1 }
        if (isUnwritten(band * cells + cell)) {
          pool.addConstant(at, empty)
          continue
        }
        const samples = await reader.read(band * cells + cell)
        const steps = { pixelStep: 1, rowStep: blockWidth, bandStep: 0, start: 0 }
        pool.add({ ...at, ...steps, samples })
      }
      continue
    }
    if (isUnwritten(cell)) {
      pool.addConstant({ ...rect, firstChannel: 0, channels: bands.length }, empty)
      continue
    }
    const samples = await reader.read(cell)
    const steps = { pixelStep: samplesPerPixel, rowStep: blockWidth * samplesPerPixel, bandStep: 1 }
    const parts = isInOrder ? [[0, bands.length] as const] : bands.map((_, i) => [i, 1] as const)
    for (const [firstChannel, channels] of parts) {
      pool.add({ ...rect, ...steps, samples, firstChannel, channels, start: bands[firstChannel]! })
    }
  }
  return pool
}
