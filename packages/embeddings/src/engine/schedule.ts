import type { Model } from '../models/acquire-files.ts'

/**
 * `parallel`: every thread decodes and infers its own tiles with its own copy of the model. `pipeline`: one thread
 * decodes, one infers with all cores; one copy of the model.
 */
export type EngineMode = 'parallel' | 'pipeline'

/** Maximum bytes of results that wait for the consumer. */
const MAX_WAITING = 64 << 20
/** Tiles in one portion of work when they share no blocks. */
const LOOSE_UNIT = 16

/**
 * Memory of one open model: its weights, some of them a second time in repacked form, and the working memory of a run.
 * Measured for a ViT-L: 1.21 GB of files, 1.37 GB in memory.
 */
export function modelMemory(model: Model): number {
  return model.bytes * 1.15 + (80 << 20)
}

/**
 * `parallel` when a copy of the model per thread fits into the memory: it also hides decoding, and suffers least from
 * other load on the cores.
 */
export function chooseMode(model: Model, threads: number, memoryBytes: number): EngineMode {
  return threads * modelMemory(model) <= memoryBytes ? 'parallel' : 'pipeline'
}

/**
 * Tiles of 256 pixels per run on a device: a ViT-S computes five times as many a second as one by one, and more at once are
 * hardly faster, or slower (measured with WebGPU).
 */
const DEVICE_BATCH = 16
/** Maximum bytes of the pixels, or of the results, of a run on a device; four groups of tiles wait for it. */
const MAX_GROUP = 48 << 20

/**
 * Tiles per run on a device, at least those of the manifest. Memory for attention grows with the square of a tile's
 * pixels, so larger tiles are fewer, and so are those of many bands or patches.
 *
 * @param pixels of a tile
 * @param bytes of a tile's numbers, or of its results if those are more
 */
export function chooseDeviceBatch(atLeast: number, pixels: number, bytes: number): number {
  const most = Math.min(DEVICE_BATCH, Math.floor((DEVICE_BATCH * 256 ** 2) / pixels), Math.floor(MAX_GROUP / bytes))
  return Math.max(atLeast, most)
}

export interface UnitRequest {
  readonly tiles: number
  readonly threads: number
  /** Tiles per run of the model; units are whole multiples of it. */
  readonly batch: number
  readonly bandTiles: number
  readonly bytesPerTile: number
}

/**
 * Number of neighbouring tiles per portion of work: a band that shares its decoding when there are enough bands for all
 * threads, fewer for small jobs and large results.
 */
export function chooseUnit({ tiles, threads, batch, bandTiles, bytesPerTile }: UnitRequest): number {
  const fair = Math.ceil(tiles / (threads * 4))
  const wanted = bandTiles > 1 ? bandTiles : LOOSE_UNIT
  const affordable = Math.floor(MAX_WAITING / (2 * threads * bytesPerTile))
  return Math.max(1, Math.ceil(Math.min(wanted, fair, affordable) / batch)) * batch
}

/** Maximum number of tiles by which threads may be ahead of the consumer. */
export function chooseWindow(unit: number, threads: number, bytesPerTile: number): number {
  return Math.max(2 * threads * unit, Math.min(1024, Math.floor(MAX_WAITING / bytesPerTile)))
}
