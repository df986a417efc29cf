import type { TerraneError } from '@terrane/core'

/**
 * The life of a job. A run ends in one of four ways: success, failure, another attempt, or a hand-over to another
 * worker because this one stops. An attempt counts when its worker is lost or it ends in a temporary fault. A hand-over
 * does not count; a timeout is final.
 */

/** Maximum attempts of one job; lost workers and temporary upstream faults count alike. */
export const MAX_ATTEMPTS = 3

/** Another attempt will not follow. */
export function isLastAttempt({ attempt }: { readonly attempt: number }): boolean {
  return attempt >= MAX_ATTEMPTS
}

/** Heartbeat interval of a run. */
export const HEARTBEAT_REFRESH_MS = 3000
/** Seconds without a heartbeat after which a run counts as lost. */
const HEARTBEAT_SECONDS = 15

/** Seconds from the timeout of a run to pg-boss's expiry, a fallback for jobs that their worker has not ended. */
const EXPIRY_NET_SECONDS = 300
/** The longest that the queue lets a job run. */
const QUEUE_MAX_SECONDS = 86_400

/** Maximum wait for a run to stop; then its job ends without it. */
export const LEAVE_MS = 20_000

/** Minimum interval between two checkpoints: a restart loses at most this much work and the unfinished step. */
export const CHECKPOINT_MS = 10_000

/** Share of the shutdown time in which jobs may still end; the rest is for handing them over. */
export const GRACE_SHARE = 0.7
/** Minimum time to hand jobs over, also when the shutdown is shorter. */
export const HAND_OVER_MS = 2000

/** Timeout of a run of a task, in seconds. */
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

/** State of the job after a run with an error. */
export function endingOf(error: TerraneError, attempt: number): Ending {
  if (error.code === 'worker_stopping') return 'handed over'
  return mayPass(error) && !isLastAttempt({ attempt }) ? 'another attempt' : 'failed'
}

/** Retries only upstream faults and reads that a change has ended; input errors, bugs and timeouts are final. */
export function mayPass(error: TerraneError): boolean {
  if (error.code === 'timed_out') return false
  return (
    error.kind === 'upstream' ||
    error.kind === 'timeout' ||
    error.kind === 'rate_limited' ||
    error.code === 'DATABASE_UNAVAILABLE' ||
    error.code === 'STORAGE_UNAVAILABLE' ||
    error.code === 'TABLE_CHANGED'
  )
}
