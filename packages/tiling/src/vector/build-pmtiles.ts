import { tmpdir } from 'node:os'
import { TerraneError } from '@terrane/core'
import type { OnProgress } from '@terrane/core'
import { Breather } from './breather.ts'
import { badZooms, noFeatures } from './errors.ts'
import type { FeatureBatch } from './features/feature-batch.ts'
import { FeatureIntake } from './features/feature-intake.ts'
import type { IntakeStats } from './features/feature-intake.ts'
import { FeatureReader } from './features/feature-record.ts'
import { LogHistogram } from './features/log-histogram.ts'
import { PLACE_ORDER, PLACE_SIDE } from './features/place.ts'
import { Shape } from './features/shape.ts'
import { findJunctions } from './geometry/junctions.ts'
import type { Bits } from './geometry/junctions.ts'
import { describeArchive } from './metadata.ts'
import { assembleArchive } from './pmtiles/archive.ts'
import type { PmtilesArchive } from './pmtiles/archive.ts'
import { firstTileId, hilbertCell } from './pmtiles/tile-id.ts'
import { TileWriter } from './pmtiles/tile-writer.ts'
import { RecordLog } from './spill/record-log.ts'
import { RecordSorter } from './spill/record-sorter.ts'
import { scratchIn } from './spill/scratch.ts'
import type { OpenScratch } from './spill/scratch.ts'
import { FeatureCutter } from './tile/feature-cutter.ts'
import { coarsenToFit, dropToFit } from './tile/fit-tile.ts'
import { LayerEncoder } from './tile/layer-encoder.ts'
import { TileEncoder } from './tile/tile-encoder.ts'
import { TileGroup } from './tile/tile-group.ts'
import { MAX_ZOOM } from './world.ts'
import { guessMaxZoom } from './zoom-guess.ts'

const DEFAULT_TILE_BYTES = 500_000
const DEFAULT_TILE_FEATURES = 200_000
const DEFAULT_MEMORY_BYTES = 2 ** 28

/** gzip never adds more than this to what it compresses, plus 5 bytes for each 16 KiB. */
const GZIP_OVERHEAD = 64

/** Distances between neighbouring features that the zoom guess looks at. */
const SPACING_SAMPLES = 20_000

export interface TilerOptions {
  /** Name of the one layer. */
  readonly layer: string
  /** Names of the attributes, in the order of the columns of the batches. */
  readonly attributes: readonly string[]
  /** Lowest and highest zoom, 0 to 18; or "auto": from 0 to the zoom that the data deserve and the cap allows. */
  readonly zooms?: readonly [number, number] | 'auto'
  /** Most bytes of a compressed tile; 500,000 unless given. */
  readonly maxTileBytes?: number
  /** Most features of a tile below the highest zoom; 200,000 unless given. */
  readonly maxTileFeatures?: number
  /**
   * Of this many points one is kept for each zoom below the highest, those of a zoom being among those of the next; 1, which
   * keeps all that can be told apart, unless given. Tippecanoe's own default is 2.5.
   */
  readonly dropRate?: number
  /** How far simplification may move a line, in tile units (1/4096 of a tile); 1 unless given. */
  readonly tolerance?: number
  /** Memory for features and tiles, 256 MiB unless given; what exceeds it goes to the work directory. */
  readonly memoryBytes?: number
  /** The system's directory for temporary files unless given. */
  readonly workDirectory?: string
  /** Makes temporary files, instead of in `workDirectory`. */
  readonly openScratch?: OpenScratch
  /** Texts for the archive's metadata. */
  readonly name?: string
  readonly description?: string
  readonly attribution?: string
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

/** An archive and what became of the features. */
export interface TilerResult extends PmtilesArchive {
  readonly features: number
  /** Features left out: they have no geometry, or one beyond the coordinates of the Earth. */
  readonly skipped: number
  /** How often a feature was dropped from a tile below the highest zoom to keep the tile under its limits. */
  readonly dropped: number
}

/**
 * Makes a PMTiles v3 archive of vector tiles from features in any order.
 *
 * The archive depends on features and options alone, neither on memory nor on the machine. Dispose the result: that
 * deletes its temporary files. When an error is thrown, none are left.
 *
 * @throws BAD_ZOOMS, BAD_GEOMETRY, NO_FEATURES, TILE_TOO_LARGE, SCRATCH_FULL, and the reason of the signal
 */
export async function buildPmtiles(batches: AsyncIterable<FeatureBatch>, options: TilerOptions): Promise<TilerResult> {
  const zooms = options.zooms ?? 'auto'
  checkZooms(zooms)
  const run: Run = {
    options,
    openScratch: options.openScratch ?? scratchIn(options.workDirectory ?? tmpdir()),
    memory: options.memoryBytes ?? DEFAULT_MEMORY_BYTES,
    breather: new Breather(options.signal),
  }
  using features = new RecordLog(run.openScratch, run.memory / 4)
  const { stats, spacing } = await readFeatures(run, batches, features)
  const isJunction = findJunctions(features, stats.vertices, run.memory / 2)
  if (zooms !== 'auto') return await tileFeatures(run, features, stats, isJunction, zooms)
  for (let maxZoom = guessMaxZoom(spacing, stats.segments); ; maxZoom++) {
    try {
      return await tileFeatures(run, features, stats, isJunction, [0, maxZoom])
    } catch (error) {
      // Nothing may be dropped at the highest zoom, so where it does not fit the features need a higher one.
      if (maxZoom === MAX_ZOOM || !(error instanceof TerraneError && error.code === 'TILE_TOO_LARGE')) throw error
    }
  }
}

interface Run {
  readonly options: TilerOptions
  readonly openScratch: OpenScratch
  readonly memory: number
  readonly breather: Breather
}

/**
 * Checks zooms without building anything.
 *
 * @throws BAD_ZOOMS
 */
export function checkZooms(zooms: readonly [number, number] | 'auto'): void {
  if (zooms === 'auto') return
  const [min, max] = zooms
  const isValid = Number.isInteger(min) && Number.isInteger(max) && min >= 0 && min <= max && max <= MAX_ZOOM
  if (!isValid) throw badZooms({ min, max, limit: MAX_ZOOM })
}

/** Reads all features and stores them in the order of a Hilbert curve. */
async function readFeatures(
  run: Run,
  batches: AsyncIterable<FeatureBatch>,
  features: RecordLog,
): Promise<{ stats: IntakeStats; spacing: LogHistogram }> {
  const { signal, onProgress, attributes } = run.options
  signal?.throwIfAborted()
  using intake = new FeatureIntake(attributes, run.openScratch, run.memory / 2)
  let rows = 0
  for await (const batch of batches) {
    intake.add(batch)
    rows += batch.geometryEnds.length
    onProgress?.({ phase: 'read', done: rows, total: null, unit: 'features' })
    if (run.breather.isDue()) await run.breather.breathe()
  }
  const stats = intake.stats()
  if (stats.features === 0) throw noFeatures({ skipped: stats.skipped })
  const spacing = new LogHistogram()
  const step = Math.ceil(stats.features / SPACING_SAMPLES)
  const sorted = intake.sorted()
  let stored = 0
  for (let last = -1; sorted.next(); last = sorted.key) {
    const size = sorted.end - sorted.start
    features.reserve(size)
    features.bytes.set(sorted.bytes.subarray(sorted.start, sorted.end), features.at)
    features.commit(features.at + size)
    if (stored++ % step === 0 && last >= 0 && last !== sorted.key) spacing.add(distanceOf(last, sorted.key))
    if (run.breather.isDue()) await run.breather.breathe()
  }
  return { stats, spacing }
}

/** Distance between two places in world units. */
function distanceOf(a: number, b: number): number {
  const p = hilbertCell(PLACE_ORDER, a)
  const q = hilbertCell(PLACE_ORDER, b)
  return Math.hypot(p.x - q.x, p.y - q.y) * PLACE_SIDE
}

async function tileFeatures(
  run: Run,
  features: RecordLog,
  stats: IntakeStats,
  isJunction: Bits,
  [minZoom, maxZoom]: readonly [number, number],
): Promise<TilerResult> {
  using fragments = await cutFeatures(run, features, stats, isJunction, minZoom, maxZoom)
  const writer = new TileWriter(maxZoom, run.openScratch, run.memory / 8)
  try {
    const dropped = await encodeTiles(run, features, fragments, writer, maxZoom)
    const archive = assembleArchive(writer, {
      minZoom,
      maxZoom,
      bounds: clampBounds(stats.bounds),
      metadata: describeArchive(stats, { ...run.options, minZoom, maxZoom }),
    })
    return { ...archive, features: stats.features, skipped: stats.skipped, dropped }
  } catch (error) {
    writer[Symbol.dispose]()
    throw error
  }
}

/** Cuts all features into the fragments that the tiles of all zooms show. */
async function cutFeatures(
  run: Run,
  features: RecordLog,
  stats: IntakeStats,
  isJunction: Bits,
  minZoom: number,
  maxZoom: number,
): Promise<RecordSorter> {
  const fragments = new RecordSorter(run.openScratch, run.memory / 2)
  try {
    await cutInto(fragments, run, features, stats, isJunction, [minZoom, maxZoom])
    return fragments
  } catch (error) {
    fragments[Symbol.dispose]()
    throw error
  }
}

async function cutInto(
  fragments: RecordSorter,
  run: Run,
  features: RecordLog,
  stats: IntakeStats,
  isJunction: Bits,
  [minZoom, maxZoom]: readonly [number, number],
): Promise<void> {
  const { tolerance = 1, dropRate = 1, onProgress } = run.options
  const cutter = new FeatureCutter({ minZoom, maxZoom, tolerance, dropRate, isJunction }, fragments)
  const reader = new FeatureReader()
  const shape = new Shape()
  let done = 0
  features.rewind()
  for (let address = features.next(); address >= 0; address = features.next()) {
    reader.open(features.page, features.start)
    reader.readShape(shape)
    cutter.cut(shape, address)
    done++
    if (!run.breather.isDue()) continue
    onProgress?.({ phase: 'cut', done, total: stats.features, unit: 'features' })
    await run.breather.breathe()
  }
}

/** Encodes the tiles one after the other; returns how many fragments were dropped. */
async function encodeTiles(
  run: Run,
  features: RecordLog,
  fragments: RecordSorter,
  writer: TileWriter,
  maxZoom: number,
): Promise<number> {
  const { layer, attributes, onProgress } = run.options
  const limits = {
    maxTileBytes: run.options.maxTileBytes ?? DEFAULT_TILE_BYTES,
    maxTileFeatures: run.options.maxTileFeatures ?? DEFAULT_TILE_FEATURES,
  }
  const encoder = new TileEncoder(features, new LayerEncoder(layer, attributes))
  const cursor = fragments.sorted()
  let group = new TileGroup()
  let dropped = 0
  let done = 0
  for (let more = cursor.next(); more;) {
    const tileId = cursor.key
    more = group.fill(cursor)
    const own = group
    const drop = () => {
      const fitted = dropToFit(encoder, own, limits)
      dropped += fitted.dropped
      return fitted.gzipped
    }
    const isHighest = tileId >= firstTileId(maxZoom)
    if (!isHighest && own.count > limits.maxTileFeatures) await writer.addGzipped(tileId, drop())
    else {
      const tile = encoder.encode(own)
      const mayBeTooLarge = tile.length * 1.001 + GZIP_OVERHEAD > limits.maxTileBytes
      // The fragments of such a tile must last until it is compressed.
      if (mayBeTooLarge) group = new TileGroup()
      const shrink = (gzipped: Uint8Array) => {
        if (gzipped.length <= limits.maxTileBytes) return gzipped
        return isHighest ? coarsenToFit(encoder, own, tileId, gzipped.length, limits) : drop()
      }
      await writer.add(tileId, tile, mayBeTooLarge ? shrink : null)
    }
    done++
    if (!run.breather.isDue()) continue
    onProgress?.({ phase: 'encode', done, total: null, unit: 'tiles' })
    await run.breather.breathe()
  }
  await writer.finish()
  return dropped
}

/** A feature across the antimeridian makes the bounds span the world. */
function clampBounds([west, south, east, north]: IntakeStats['bounds']): [number, number, number, number] {
  return west < -180 || east > 180 ? [-180, south, 180, north] : [west, south, east, north]
}
