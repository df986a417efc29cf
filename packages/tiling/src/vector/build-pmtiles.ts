import { tmpdir } from 'node:os'
import { TerraneError } from '@terrane/core'
import { Yielder } from './yielder.ts'
import { noFeatures } from './errors.ts'
import type { FeatureBatch } from './features/feature-batch.ts'
import { FeatureIntake, type IntakeStats } from './features/feature-intake.ts'
import { FeatureReader } from './features/feature-record.ts'
import { PLACE_ORDER, PLACE_SIDE } from './features/place.ts'
import { findJunctions } from './geometry/junctions.ts'
import { checkLayers, guessLayerZoom, planLayers } from './layers.ts'
import { hilbertCell } from './pmtiles/tile-id.ts'
import { RecordLog } from './spill/record-log.ts'
import { scratchIn } from './spill/scratch.ts'
import { tileFeatures } from './tile-features.ts'
import type { TilerOptions, TilerResult, TilerRun } from './tiler-run.ts'
import { MAX_ZOOM } from './world.ts'

const DEFAULT_MEMORY_BYTES = 2 ** 28

/** Number of sampled distances between neighbouring features of a layer for guessing the zoom. */
const SPACING_SAMPLES = 20_000

/**
 * Builds a PMTiles v3 archive of vector tiles from features in any order, of one or several layers.
 *
 * The archive depends on features and options only, not on memory or machine. Disposing the result deletes its
 * temporary files; after an error none are left.
 *
 * @throws BAD_ZOOMS, BAD_LAYERS, BAD_GEOMETRY, NO_FEATURES, TILE_TOO_LARGE, TOO_MANY_POINTS, SCRATCH_FULL, and the
 * reason of the signal
 */
export async function buildPmtiles(batches: AsyncIterable<FeatureBatch>, options: TilerOptions): Promise<TilerResult> {
  const { layers, zooms = 'auto' } = options
  checkLayers(layers, zooms)
  const run: TilerRun = {
    options,
    openScratch: options.openScratch ?? scratchIn(options.workDirectory ?? tmpdir()),
    memory: options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
    yielder: new Yielder(options.signal),
  }
  using features = new RecordLog(run.openScratch, run.memory / 4)
  const stats = await readFeatures(run, batches, features)
  const isJunction = findJunctions(features, stats.vertices, run.memory / 2)
  for (let autoMax = guessLayerZoom(layers, zooms, stats.layers); ;) {
    try {
      return await tileFeatures(run, features, stats, isJunction, planLayers(layers, zooms, autoMax))
    } catch (error) {
      // The highest zoom may not drop features, so tiles that are too large need a higher zoom.
      const isTooLarge = error instanceof TerraneError && error.code === 'TILE_TOO_LARGE'
      if (autoMax === null || autoMax === MAX_ZOOM || !isTooLarge) throw error
      autoMax++
    }
  }
}

/** Reads all features and sorts them along a Hilbert curve. */
async function readFeatures(
  run: TilerRun,
  batches: AsyncIterable<FeatureBatch>,
  features: RecordLog,
): Promise<IntakeStats> {
  const { signal, onProgress, layers } = run.options
  signal?.throwIfAborted()
  const attributes = layers.map((layer) => layer.attributes)
  using intake = new FeatureIntake(attributes, run.openScratch, run.memory / 2)
  let rows = 0
  for await (const batch of batches) {
    intake.add(batch)
    rows += batch.geometryEnds.length
    onProgress?.({ phase: 'read', done: rows, total: null, unit: 'features' })
    if (run.yielder.isDue()) await run.yielder.yield()
  }
  const stats = intake.stats()
  if (stats.features === 0) throw noFeatures({ skipped: stats.skipped })
  const last = layers.map(() => -1)
  const seen = layers.map(() => 0)
  const steps = stats.layers.map((layer) => Math.max(1, Math.ceil(layer.features / SPACING_SAMPLES)))
  const reader = new FeatureReader()
  const sorted = intake.sorted()
  while (sorted.next()) {
    const size = sorted.end - sorted.start
    features.reserve(size)
    features.bytes.set(sorted.bytes.subarray(sorted.start, sorted.end), features.at)
    features.commit(features.at + size)
    reader.open(sorted.bytes, sorted.start)
    const { layer } = reader
    const before = last[layer]!
    const nth = seen[layer]!
    seen[layer] = nth + 1
    const isSample = nth % (steps[layer] ?? 1) === 0
    if (isSample && before >= 0 && before !== sorted.key)
      stats.layers[layer]!.spacing.add(distanceOf(before, sorted.key))
    last[layer] = sorted.key
    if (run.yielder.isDue()) await run.yielder.yield()
  }
  return stats
}

/** Distance between two Hilbert positions in world units. */
function distanceOf(a: number, b: number): number {
  const p = hilbertCell(PLACE_ORDER, a)
  const q = hilbertCell(PLACE_ORDER, b)
  return Math.hypot(p.x - q.x, p.y - q.y) * PLACE_SIDE
}
