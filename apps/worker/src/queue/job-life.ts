import type { TerraneError } from '@terrane/core'

/**
 * The life of a job. A run ends in one of four ways: success, failure, another attempt, or a hand-over to another worker
 * because this one stops. An attempt is counted when a run ends in a fault that may pass or its worker is lost; a
 * hand-over does not count, and a timeout is final.
 */

/** Attempts of one job, at most: lost workers and faults of others that may pass count alike. */
export const MAX_ATTEMPTS = 3

/** Heartbeat interval of a run. */
export const HEARTBEAT_REFRESH_MS = 3000
/** Silence after which a run counts as lost. */
const HEARTBEAT_SECONDS = 15

/** pg-boss's expiry is a fallback: it ends only jobs whose worker has not ended them itself. */
const EXPIRY_NET_SECONDS = 300
/** The longest that the queue lets a job run. */
const QUEUE_MAX_SECONDS = 86_400

/** Maximum wait for a run to stop; then its job ends without it. */
export const LEAVE_MS = 20_000

/** Least time between two checkpoints of a run: a restart loses this much of the work, and what was under way. */
export const CHECKPOINT_MS = 10_000

/** Of the time that a stop leaves to jobs, the part in which they may still end; the rest is for handing them over. */
export const GRACE_SHARE = 0.7
/** Minimum time to hand jobs over, also when the shutdown is shorter. */
export const HAND_OVER_MS = 2000

/** When a run of a task times out, in seconds. */
export function timeoutSeconds(expireSeconds: number): number {
  return Math.min(expireSeconds, QUEUE_MAX_SECONDS - EXPIRY_NET_SECONDS)
}

/** The same rules as options of the queue. */
export function queueSettings(expireSeconds: number) {
  return {
    notify: false,
    heartbeatSeconds: HEARTBEAT_SECONDS,
    expireInSeconds: timeoutSeconds(expireSeconds) + EXPIRY_NET_SECONDS,
    retryLimit: MAX_ATTEMPTS - 1,
    retryDelay: 1,
    retryBackoff: true,
    retryDelayMax: 60,
    retentionSeconds: 30 * 86_400,
    deleteAfterSeconds: 7 * 86_400,
  }
}

export type Ending = 'failed' | 'another attempt' | 'handed over'

/** How a run that ended in an error leaves its job. */
export function endingOf(error: TerraneError, attempt: number): Ending {
  if (error.code === 'worker_stopping') return 'handed over'
  return mayPass(error) && attempt < MAX_ATTEMPTS ? 'another attempt' : 'failed'
}

/** Retries only upstream faults; input errors, bugs and timeouts are final. */
export function mayPass(error: TerraneError): boolean {
  if (error.code === 'timed_out') return false
  return (
    error.kind === 'upstream' ||
    error.kind === 'timeout' ||
    error.kind === 'rate_limited' ||
    error.code === 'DATABASE_UNAVAILABLE' ||
    error.code === 'STORAGE_UNAVAILABLE'
  )
}
