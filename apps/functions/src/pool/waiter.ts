import type { Instance } from './instance.ts'

/**
 * Why a request got no instance; `late`: its deadline passed before an instance had started. `retryMs`: when to try
 * again.
 */
export interface Refusal {
  readonly why: 'busy' | 'boot' | 'late'
  readonly retryMs: number
}

/**
 * A request that waits for an instance until its deadline (`performance.now()` milliseconds). Exactly one of its two
 * methods is called, possibly before `acquire` returns.
 */
export interface Waiter {
  readonly deadline: number
  granted(instance: Instance): void
  refused(refusal: Refusal): void
}
