import type { OnProgress } from '@terrane/core'

import { noFeatures } from '../errors.ts'
import type { Geometry } from '../geometry.ts'
import { CellIndex } from '../join/cell-index.ts'
import type { OsmFilter } from '../osm-filter.ts'
import { TagColumns, type Tags } from '../tag-columns.ts'
import { CountBuilder, type SparseCounts } from './sparse-counts.ts'

/** A map feature. */
export interface RegionFeature {
  readonly tags: Tags
  readonly geometry: Geometry
}

export interface CountRequest {
  readonly cells: readonly string[]
  /** Each feature once. */
  readonly features: Iterable<RegionFeature> | AsyncIterable<RegionFeature>
  readonly filter: OsmFilter
  /** Whether each value of a key is counted separately. */
  readonly subcategories: boolean
  /** Throws when there are too many columns. */
  readonly checkColumns: (columns: number) => void
  readonly onProgress?: OnProgress | undefined
}

export interface FeatureCounts {
  readonly counts: SparseCounts
  /** Features that the filter matched and a cell met. */
  readonly features: number
}

/** Number of features between reports of progress. */
const REPORT_EVERY = 10_000

/**
 * Counts the features of each cell by tag. A feature counts once in every cell that it intersects, however small the
 * overlap. The columns are in alphabetical order.
 *
 * Source: CountEmbedder and IntersectionJoiner of srai.
 *
 * @throws NO_MATCHING_FEATURES, and what `checkColumns` throws
 */
export async function countFeatures(request: CountRequest): Promise<FeatureCounts> {
  const { cells, features, filter, subcategories, checkColumns, onProgress } = request
  const index = new CellIndex(cells)
  const columns = new TagColumns(filter, subcategories)
  const builder = new CountBuilder(cells.length)
  const matched: number[] = []
  const match = (column: number): void => void matched.push(column)
  let seen = 0
  let counted = 0
  for await (const { tags, geometry } of features) {
    if (++seen % REPORT_EVERY === 0) onProgress?.({ phase: 'count', done: seen, total: null, unit: 'features' })
    matched.length = 0
    columns.columnsOf(tags, match)
    if (matched.length === 0) continue
    checkColumns(columns.count)
    const hits = index.find(geometry)
    if (hits > 0) counted++
    for (let h = 0; h < hits; h++) for (const column of matched) builder.add(index.hits[h]!, column)
  }
  onProgress?.({ phase: 'count', done: seen, total: seen, unit: 'features' })
  if (columns.count === 0) throw noFeatures()
  const { names, places } = columns.sorted()
  return { counts: builder.finish(names, places), features: counted }
}
