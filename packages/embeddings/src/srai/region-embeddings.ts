import { createHash } from 'node:crypto'

import type { OnProgress } from '@terrane/core'

import { type ContextualOptions, addRow, contextualNames, contextualRow } from './embedders/contextual-count.ts'
import { type RegionFeature, countFeatures } from './embedders/count-features.ts'
import { type CompleteEmbedder, type RegionEmbedder, completeEmbedder } from './embedders/embedder.ts'
import { type Hex2VecResult, trainHex2Vec } from './embedders/hex2vec.ts'
import { neighbourRings } from './embedders/neighbourhood.ts'
import type { SparseCounts } from './embedders/sparse-counts.ts'
import { notEnoughRegions, tooManyColumns } from './errors.ts'
import type { OsmFilter } from './osm-filter.ts'
import { TagColumns } from './tag-columns.ts'

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
  /** Label of each number; null when single numbers have no meaning. */
  readonly names: readonly string[] | null
  /** Features that were counted in at least one cell. */
  readonly features: number
  /** Mean loss of each epoch of a trained embedder; empty otherwise. */
  readonly losses: readonly number[]
  /**
   * SHA-256, hex, of everything but the features that affects the numbers: the embedder with its options, the filter,
   * and learned weights. Embeddings with equal fingerprints and names can be compared.
   */
  readonly fingerprint: string
  /** Writes the embedding of a row, `dims` numbers. */
  readonly read: (row: number, out: Float64Array) => void
}

/**
 * Refuses a request that would fail for any features.
 *
 * @throws INVALID_EMBEDDER_OPTION, EMBEDDER_UNKNOWN, TOO_MANY_DIMENSIONS when the filter lists too many values
 */
export function checkEmbedding({ filter, embedder }: Pick<RegionEmbeddingsRequest, 'filter' | 'embedder'>): void {
  const complete = completeEmbedder(embedder)
  columnCheck(complete)(new TagColumns(filter, complete.subcategories).count)
}

/**
 * Embeds H3 cells by the features in them. Computes in the calling thread; `openRegionRun` does the same in one of its
 * own.
 *
 * @throws INVALID_EMBEDDER_OPTION, EMBEDDER_UNKNOWN, NO_MATCHING_FEATURES, TOO_MANY_DIMENSIONS, NOT_ENOUGH_REGIONS
 */
export async function embedRegions(request: RegionEmbeddingsRequest): Promise<RegionEmbeddings> {
  const { cells, features, filter, onProgress } = request
  checkEmbedding(request)
  const embedder = completeEmbedder(request.embedder)
  if (embedder.kind === 'hex2vec' && cells.length < 2) throw notEnoughRegions({ cells: cells.length })
  const { subcategories } = embedder
  const checkColumns = columnCheck(embedder)
  const found = await countFeatures({ cells, features, filter, subcategories, checkColumns, onProgress })
  const { learned, ...embedded } = embedCounts(found.counts, cells, embedder, onProgress)
  const hash = createHash('sha256').update(JSON.stringify([sortedKeys(embedder), filter]))
  for (const { value } of learned) hash.update(value)
  return { cells, features: found.features, ...embedded, fingerprint: hash.digest('hex') }
}

type Embedded = Pick<RegionEmbeddings, 'dims' | 'names' | 'losses' | 'read'> & Pick<Hex2VecResult, 'learned'>

function embedCounts(
  counts: SparseCounts,
  cells: readonly string[],
  embedder: CompleteEmbedder,
  onProgress: OnProgress | undefined,
): Embedded {
  if (embedder.kind === 'hex2vec') {
    const rings = neighbourRings(cells, embedder.negativeDistance)
    const { embeddings, dims, ...trained } = trainHex2Vec(counts, { ...embedder, rings, onProgress })
    const read = (row: number, out: Float64Array): void => out.set(embeddings.subarray(row * dims, (row + 1) * dims))
    return { dims, names: null, read, ...trained }
  }
  if (embedder.kind === 'count') {
    const read = (row: number, out: Float64Array): void => addRow(counts, row, out.fill(0))
    return { dims: counts.names.length, names: counts.names, losses: [], learned: [], read }
  }
  const { concat, aggregation } = embedder
  const options: ContextualOptions = { rings: neighbourRings(cells, embedder.distance), concat, aggregation }
  const names = contextualNames(counts, options)
  const read = (row: number, out: Float64Array): void => contextualRow(counts, row, options, out)
  return { dims: names.length, names, losses: [], learned: [], read }
}

/** Refuses column numbers that exceed the maximum dimensions of the embedder's vectors. */
function columnCheck(embedder: CompleteEmbedder): (columns: number) => void {
  const width = embedder.kind === 'contextual-count' && embedder.concat ? embedder.distance + 1 : 1
  return (columns) => {
    if (columns * width > MAX_DIMS) throw tooManyColumns({ dims: columns * width, limit: MAX_DIMS })
  }
}

function sortedKeys(embedder: CompleteEmbedder): [string, unknown][] {
  return Object.entries(embedder).toSorted(([a], [b]) => (a < b ? -1 : 1))
}
