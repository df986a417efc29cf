import type { JobRun } from '@terrane/database'

/** Names of what a run uploads before it is published, and those under which lost runs of the job may have left theirs. */
export function uploadNames({ jobId, number, earlier }: JobRun) {
  return { temporaryName: `${jobId}.${number}`, abandonedNames: earlier.map((run) => `${jobId}.${run}`) }
}
