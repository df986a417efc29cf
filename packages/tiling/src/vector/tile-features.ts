import type { TilerResult, TilerRun } from './tiler-run.ts'
import type { IntakeStats } from './features/feature-intake.ts'
import { FeatureReader } from './features/feature-record.ts'
import { POINT, Shape } from './features/shape.ts'
import type { Bits } from './geometry/junctions.ts'
import type { LayerPlan } from './layers.ts'
import { describeArchive } from './metadata.ts'
import { assembleArchive } from './pmtiles/archive.ts'
import { firstTileId } from './pmtiles/tile-id.ts'
import { TileWriter } from './pmtiles/tile-writer.ts'
import { ClusterRecords } from './points/cluster-record.ts'
import { PointCutter, rankingOf } from './points/point-cutter.ts'
import type { RecordLog } from './spill/record-log.ts'
import { RecordSorter } from './spill/record-sorter.ts'
import { FeatureCutter } from './tile/feature-cutter.ts'
import { coarsenToFit, dropToFit, type LayerWeights } from './tile/fit-tile.ts'
import { LayerEncoder } from './tile/layer-encoder.ts'
import { Slicer } from './tile/slicer.ts'
import { TileEncoder } from './tile/tile-encoder.ts'
import { TileGroup } from './tile/tile-group.ts'

const DEFAULT_TILE_BYTES = 500_000
const DEFAULT_TILE_FEATURES = 200_000

/** Maximum overhead of gzip in bytes, plus 5 bytes for each 16 KiB. */
const GZIP_OVERHEAD = 64

/** Builds the archive of features whose layers have resolved zooms. */
export async function tileFeatures(
  run: TilerRun,
  features: RecordLog,
  stats: IntakeStats,
  isJunction: Bits,
  plans: readonly LayerPlan[],
): Promise<TilerResult> {
  const minZoom = Math.min(...plans.map((plan) => plan.minZoom))
  const maxZoom = Math.max(...plans.map((plan) => plan.maxZoom))
  using fragments = new RecordSorter(run.openScratch, run.memory / 2)
  const clusters = plans.map(
    (plan, i) => new ClusterRecords(i, features, plan.tileAttributes, plan.cluster?.aggregates ?? []),
  )
  await cutFeatures(fragments, run, features, stats, isJunction, plans, clusters)
  const writer = new TileWriter(maxZoom, run.openScratch, run.memory / 8)
  try {
    const dropped = await encodeTiles(run, features, fragments, writer, plans)
    const layers = plans.map((plan, i) => {
      const { attributes, kinds, features: count, skipped } = stats.layers[i]!
      return { ...plan, kinds, features: count, skipped, attributes: [...attributes, ...clusters[i]!.stats()] }
    })
    const archive = assembleArchive(writer, {
      minZoom,
      maxZoom,
      bounds: clampBounds(stats.bounds),
      metadata: describeArchive(layers, run.options),
    })
    return {
      ...archive,
      layers: layers.map((layer) => ({
        name: layer.name,
        minZoom: layer.minZoom,
        maxZoom: layer.maxZoom,
        features: layer.features,
        skipped: layer.skipped,
      })),
      features: stats.features,
      skipped: stats.skipped,
      dropped,
    }
  } catch (error) {
    writer[Symbol.dispose]()
    throw error
  }
}

/** Cuts all features into the fragments that the tiles of all zooms show. */
async function cutFeatures(
  fragments: RecordSorter,
  run: TilerRun,
  features: RecordLog,
  stats: IntakeStats,
  isJunction: Bits,
  plans: readonly LayerPlan[],
  clusters: readonly ClusterRecords[],
): Promise<void> {
  const { tolerance = 1, onProgress } = run.options
  const cutters = plans.map((plan, i) => {
    const slicer = new Slicer(fragments, i)
    return {
      shapes: new FeatureCutter({ ...plan, tolerance, isJunction }, slicer),
      points: new PointCutter(plan, slicer),
    }
  })
  const reader = new FeatureReader()
  const shape = new Shape()
  let vertices = 0
  features.rewind()
  // Clusters follow the features in the log.
  for (let done = 1; done <= stats.records; done++) {
    const address = features.next()
    reader.open(features.page, features.start)
    reader.readShape(shape)
    const { shapes, points } = cutters[reader.layer]!
    if (shape.kind === POINT) points.cut(shape, reader, address)
    else {
      shapes.cut(shape, address, vertices)
      vertices += shape.size
    }
    if (!run.yielder.isDue()) continue
    onProgress?.({ phase: 'cut', done, total: stats.records, unit: 'features' })
    await run.yielder.yield()
  }
  for (const [i, { points }] of cutters.entries()) {
    points.finish(clusters[i]!)
    await run.yielder.yield()
  }
}

/** Encodes the tiles one after the other; returns how many fragments were dropped. */
async function encodeTiles(
  run: TilerRun,
  features: RecordLog,
  fragments: RecordSorter,
  writer: TileWriter,
  plans: readonly LayerPlan[],
): Promise<number> {
  const { onProgress } = run.options
  const limits = {
    maxTileBytes: run.options.maxTileBytes ?? DEFAULT_TILE_BYTES,
    maxTileFeatures: run.options.maxTileFeatures ?? DEFAULT_TILE_FEATURES,
  }
  const layers = plans.map(({ name, tileAttributes }) => new LayerEncoder(name, tileAttributes))
  const encoder = new TileEncoder(features, layers)
  const rankings = plans.map(rankingOf)
  const cursor = fragments.sorted()
  let group = new TileGroup()
  let dropped = 0
  let done = 0
  let zoom = 0
  for (let more = cursor.next(); more;) {
    const tileId = cursor.key
    more = group.fill(cursor)
    const own = group
    while (tileId >= firstTileId(zoom + 1)) zoom++
    const weights = weightsAt(zoom, plans, rankings)
    const drop = () => {
      const fitted = dropToFit(encoder, own, tileId, limits, weights)
      dropped += fitted.dropped
      return fitted.gzipped
    }
    const isWhole = plans.every((plan, i) => weights.isWhole(i) || zoom < plan.minZoom || zoom > plan.maxZoom)
    if (!isWhole && own.count > limits.maxTileFeatures) await writer.addGzipped(tileId, drop())
    else {
      const tile = encoder.encode(own)
      const mayBeTooLarge = tile.length * 1.001 + GZIP_OVERHEAD > limits.maxTileBytes
      // The fragments of such a tile must be kept until it is compressed.
      if (mayBeTooLarge) group = new TileGroup()
      const shrink = (gzipped: Uint8Array) => {
        if (gzipped.length <= limits.maxTileBytes) return gzipped
        return isWhole ? coarsenToFit(encoder, own, null, tileId, gzipped.length, limits) : drop()
      }
      await writer.add(tileId, tile, mayBeTooLarge ? shrink : null)
    }
    done++
    if (!run.yielder.isDue()) continue
    onProgress?.({ phase: 'encode', done, total: null, unit: 'tiles' })
    await run.yielder.yield()
  }
  await writer.finish()
  return dropped
}

function weightsAt(
  zoom: number,
  plans: readonly LayerPlan[],
  rankings: readonly ReturnType<typeof rankingOf>[],
): LayerWeights {
  return {
    isWhole: (layer) => plans[layer]!.maxZoom === zoom,
    // Clusters have no rank.
    ranking: (layer) => (zoom <= plans[layer]!.clusterZoom ? null : rankings[layer]!),
  }
}

/** A feature across the antimeridian makes the bounds span the world. */
function clampBounds([west, south, east, north]: IntakeStats['bounds']): [number, number, number, number] {
  return west < -180 || east > 180 ? [-180, south, 180, north] : [west, south, east, north]
}
