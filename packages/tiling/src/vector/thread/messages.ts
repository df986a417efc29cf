import type { ErrorExtras, ErrorKind, Progress } from '@terrane/core'
import type { TilerOptions, TilerResult } from '../build-pmtiles.ts'
import type { FeatureBatch } from '../features/feature-batch.ts'

/** Options that can be sent to another thread. */
export type ThreadOptions = Omit<TilerOptions, 'openScratch' | 'signal' | 'onProgress'>

/** What is known of an archive besides its bytes. */
export type ArchiveSummary = Omit<TilerResult, 'read' | typeof Symbol.dispose>

/** A catalogue error's own fields, as the prototype does not travel. */
export interface SentError {
  readonly code: string
  readonly kind: ErrorKind
  readonly message: string
  readonly extras: Omit<ErrorExtras, 'cause'>
}

export type ToThread =
  | { readonly type: 'batch'; readonly batch: FeatureBatch }
  | { readonly type: 'end' }
  /** Asks for the next bytes of the finished archive. */
  | { readonly type: 'read' }

export type FromThread =
  /** Asks for a batch. */
  | { readonly type: 'more' }
  | { readonly type: 'progress'; readonly progress: Progress }
  | { readonly type: 'built'; readonly summary: ArchiveSummary }
  /** The next bytes; null after the last ones. */
  | { readonly type: 'bytes'; readonly bytes: Uint8Array<ArrayBuffer> | null }
  | { readonly type: 'failed'; readonly error: SentError | Error }
