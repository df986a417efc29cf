import { Thread } from '@terrane/core/threads'
import { fittingFailed } from '../errors.ts'
import type { FitOptions, FittedHead } from './fit.ts'
import type { LabelledVectors } from './head.ts'
import type { Clustering } from './k-means.ts'
import type { ExamplePlaces, FoldOptions } from './spatial-folds.ts'
import type { Validation } from './validate.ts'

/** Options of holding out examples. */
export type HoldOut = Omit<FoldOptions, 'labels' | 'classes'>

/** Methods of the thread. */
export interface HeadMethods {
  /** Null where no example can be held out. */
  validate(request: {
    readonly data: LabelledVectors
    readonly places: ExamplePlaces
    readonly holdOut: HoldOut
    readonly options: FitOptions
  }): Promise<Validation | null>
  fit(request: { readonly data: LabelledVectors; readonly options: FitOptions }): Promise<FittedHead>
  cluster(request: {
    readonly vectors: Float32Array
    readonly dims: number
    readonly k: number
    readonly seed: number
  }): Promise<Clustering>
}

/**
 * A thread for long computations: validation, fits and clusters. The caller must dispose it. Calls fail with
 * HEAD_NOT_FITTED, or the reason of the signal.
 */
export function openHeadThread(signal: AbortSignal): Thread<HeadMethods> {
  return new Thread(new URL('./head.worker.ts', import.meta.url), {
    signal,
    toLostError: (why) => fittingFailed({ why: `its thread ended: ${why}` }),
    toError: (why) => fittingFailed({ why }),
  })
}
