import type { BlockVisitor, Kinds, OsmHeader } from './block.ts'
import type { OsmSource } from './source.ts'

export interface ReadOptions {
  /** Kinds to decode; all when absent. */
  readonly kinds?: Kinds
  readonly signal?: AbortSignal
  /** Called after each block with the offset in the file that is reached. */
  readonly onBytes?: (offset: number) => void
}

/** Reads the elements of one OSM file in blocks, once per call, in any format. */
export interface OsmReader {
  readonly source: OsmSource
  header(signal?: AbortSignal): Promise<OsmHeader>
  /** Estimated number of nodes, without reading much of the file; null when unknown. */
  estimateNodes(signal?: AbortSignal): Promise<number | null>
  /** Visits all blocks that hold wanted kinds, in the order of the file. */
  read(visit: BlockVisitor, options?: ReadOptions): Promise<OsmHeader>
}
