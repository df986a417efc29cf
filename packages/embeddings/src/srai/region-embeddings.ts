import type { OnProgress } from '@terrane/core'

import { type ContextualOptions, addRow, contextualNames, contextualRow } from './embedders/contextual-count.ts'
import { type RegionFeature, countFeatures } from './embedders/count-features.ts'
import { type CompleteEmbedder, type RegionEmbedder, completeEmbedder } from './embedders/embedder.ts'
import { trainHex2Vec } from './embedders/hex2vec.ts'
import { neighbourRings } from './embedders/neighbourhood.ts'
import type { SparseCounts } from './embedders/sparse-counts.ts'
import { notEnoughRegions, tooManyColumns } from './errors.ts'
import type { OsmFilter } from './osm-filter.ts'

/** The longest embedding: pgvector's limit. */
const MAX_DIMS = 16_000

export interface RegionEmbeddingsRequest {
  /** H3 cells of one resolution; the rows of the result, in this order. */
  readonly cells: readonly string[]
  /** Each feature once. */
  readonly features: Iterable<RegionFeature> | AsyncIterable<RegionFeature>
  readonly filter: OsmFilter
  readonly embedder: RegionEmbedder
  readonly onProgress?: OnProgress
}

/** Embeddings of H3 cells. */
export interface RegionEmbeddings {
  readonly cells: readonly string[]
  readonly dims: number
  /** What each number counts; null where it has no meaning of its own. */
  readonly names: readonly string[] | null
  /** Features that were counted in at least one cell. */
  readonly features: number
  /** Mean loss of each epoch of a trained embedder; empty otherwise. */
  readonly losses: readonly number[]
  /** Writes the embedding of a row, `dims` numbers. */
  readonly read: (row: number, out: Float64Array) => void
}

/**
 * Embeds H3 cells by the features in them. Computes in the calling thread; `openRegionRun` does the same in one of its
 * own.
 *
 * @throws INVALID_EMBEDDER_OPTION, EMBEDDER_UNKNOWN, NO_MATCHING_FEATURES, TOO_MANY_DIMENSIONS, NOT_ENOUGH_REGIONS
 */
export async function embedRegions(request: RegionEmbeddingsRequest): Promise<RegionEmbeddings> {
  const { cells, features, filter, onProgress } = request
  const embedder = completeEmbedder(request.embedder)
  if (embedder.kind === 'hex2vec' && cells.length < 2) throw notEnoughRegions({ cells: cells.length })
  const { subcategories } = embedder
  const maxColumns = MAX_DIMS / widthFactor(embedder)
  const found = await countFeatures({ cells, features, filter, subcategories, maxColumns, onProgress })
  const embedded = embedCounts(found.counts, cells, embedder, onProgress)
  return { cells, features: found.features, ...embedded }
}

type Embedded = Pick<RegionEmbeddings, 'dims' | 'names' | 'losses' | 'read'>

function embedCounts(
  counts: SparseCounts,
  cells: readonly string[],
  embedder: CompleteEmbedder,
  onProgress: OnProgress | undefined,
): Embedded {
  if (embedder.kind === 'hex2vec') {
    const rings = neighbourRings(cells, embedder.negativeDistance)
    const { embeddings, dims, losses } = trainHex2Vec(counts, { ...embedder, rings, onProgress })
    const read = (row: number, out: Float64Array): void => out.set(embeddings.subarray(row * dims, (row + 1) * dims))
    return { dims, names: null, losses, read }
  }
  if (embedder.kind === 'count') {
    const read = (row: number, out: Float64Array): void => addRow(counts, row, out.fill(0))
    return { dims: counts.names.length, names: counts.names, losses: [], read }
  }
  const { concat, aggregation } = embedder
  const options: ContextualOptions = { rings: neighbourRings(cells, embedder.distance), concat, aggregation }
  const names = contextualNames(counts, options)
  if (names.length > MAX_DIMS) throw tooManyColumns({ dims: names.length, limit: MAX_DIMS })
  return { dims: names.length, names, losses: [], read: (row, out) => contextualRow(counts, row, options, out) }
}

/** How many numbers each column of the counts becomes. */
function widthFactor(embedder: CompleteEmbedder): number {
  return embedder.kind === 'contextual-count' && embedder.concat ? embedder.distance + 1 : 1
}
