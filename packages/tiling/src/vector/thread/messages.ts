import type { TilerOptions, TilerResult } from '../tiler-run.ts'
import type { FeatureBatch } from '../features/feature-batch.ts'

/** Options that can be sent to another thread. */
export type ThreadOptions = Omit<TilerOptions, 'openScratch' | 'signal' | 'onProgress'>

/** Metadata of an archive besides its bytes. */
export type ArchiveSummary = Omit<TilerResult, 'read' | typeof Symbol.dispose>

/** Methods of the thread; its progress is its events. */
export interface TilerMethods {
  /** Builds the archive from the features that `add` passes meanwhile. */
  build(input: null): ArchiveSummary
  /** Adds features, or null after the last ones; settles when they are accepted. */
  add(batch: FeatureBatch | null): void
  /** The next bytes of the finished archive; null at its end. */
  read(input: null): Uint8Array<ArrayBuffer> | null
}
