import type { OnProgress, Progress } from '@terrane/core'
import { Thread } from '@terrane/core/threads'

import type { RegionFeature } from './embedders/count-features.ts'
import type { RegionEmbedder } from './embedders/embedder.ts'
import { regionFailed, regionThreadLost } from './errors.ts'
import type { PolygonRings } from './geometry.ts'
import type { OsmFilter } from './osm-filter.ts'
import type { CellGuard } from './regions.ts'

/**
 * Source of the features for the thread: it imports `module` and calls its export `openFeatures(options)`. All members
 * are plain data.
 */
export interface FeatureSource {
  /** URL of the module. */
  readonly module: string
  /** Input of `openFeatures`; must survive `structuredClone`. */
  readonly options: unknown
}

/** Exports of a feature module. */
export interface FeatureModule {
  openFeatures(options: unknown, hooks: FeatureHooks): Iterable<RegionFeature> | AsyncIterable<RegionFeature>
}

/** Callbacks of a feature module to the caller of the run. */
export interface FeatureHooks {
  /** Progress of reading; it replaces the progress of counting. */
  readonly onProgress: OnProgress
  /** Called with the counts once all features are read. */
  readonly onCounts: (counts: Readonly<Record<string, number>>) => void
}

export interface RegionRunRequest {
  /** Polygons in longitude and latitude. */
  readonly area: readonly PolygonRings[]
  /** H3 resolution, 0 to 15. */
  readonly resolution: number
  readonly maxCells?: CellGuard
  readonly filter: OsmFilter
  readonly embedder: RegionEmbedder
  /** Source of the features. A function is called only after the cells have been counted and accepted. */
  readonly source: FeatureSource | (() => Promise<FeatureSource>)
}

/** Start parameters of the thread. */
export type RegionThreadData = Omit<RegionRunRequest, 'source'>

/** Result of the whole run. */
export interface RegionSummary {
  readonly cells: number
  readonly dims: number
  /** Label of each number; null when single numbers have no meaning. */
  readonly names: readonly string[] | null
  /** Features that were counted in at least one cell. */
  readonly features: number
  /** Number of cells whose vector is zero, so that no cosine is defined. */
  readonly zeroVectors: number
  readonly losses: readonly number[]
  /** As in `RegionEmbeddings`. */
  readonly fingerprint: string
  /** The feature module's own report; null without one. */
  readonly counts: Readonly<Record<string, number>> | null
}

/** Some rows, in the order of the cells. */
export interface RegionBatch {
  /** H3 indexes. */
  readonly cells: readonly string[]
  /** The outline of each: one polygon, or two at the antimeridian. */
  readonly polygons: readonly (readonly PolygonRings[])[]
  /** `cells.length · dims`. */
  readonly embeddings: Float32Array
}

/** The result of a run; `dispose` ends its thread. */
export interface RegionRun extends AsyncDisposable {
  readonly summary: RegionSummary
  /** All rows, to be iterated once. */
  batches(): AsyncIterable<RegionBatch>
}

/** Methods of the thread after it has covered the area with cells; its progress is its events. */
export interface RegionMethods {
  embed(source: FeatureSource): RegionSummary
  /** The next rows. */
  next(input: null): RegionBatch
}

export interface RegionRunOptions {
  readonly signal?: AbortSignal
  readonly onProgress?: OnProgress
}

/**
 * Covers an area with H3 cells and embeds them, in a thread of its own, which also reads the features. Resolves when
 * all embeddings are computed; `batches` then returns the rows.
 *
 * @throws size_guard_exceeded before the source is asked for, everything that `coverArea` and `embedRegions` throw,
 * errors of the feature source, REGION_EMBEDDING_FAILED, REGION_THREAD_LOST, and the signal's reason
 */
export async function openRegionRun(request: RegionRunRequest, options: RegionRunOptions = {}): Promise<RegionRun> {
  const { signal, onProgress } = options
  signal?.throwIfAborted()
  const { source, ...setup } = request
  const thread = new Thread<RegionMethods, Progress>(new URL('./regions.worker.ts', import.meta.url), {
    setup,
    signal,
    ...(onProgress && { onEvent: onProgress }),
    toLostError: (why) => regionThreadLost({ why }),
    toError: (why) => regionFailed({ why }),
  })
  const close = () => thread[Symbol.asyncDispose]()
  try {
    await thread.ready
    const summary = await thread.call('embed', typeof source === 'function' ? await source() : source)
    return { summary, batches: () => takeBatches(thread, summary.cells), [Symbol.asyncDispose]: close }
  } catch (error) {
    await close()
    throw error
  }
}

async function* takeBatches(
  thread: Thread<RegionMethods, Progress>,
  cells: number,
): AsyncGenerator<RegionBatch, void, undefined> {
  for (let done = 0; done < cells;) {
    const batch = await thread.call('next', null)
    done += batch.cells.length
    yield batch
  }
}
