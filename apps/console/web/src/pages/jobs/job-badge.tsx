import type { JSX } from 'preact'
import { jobState, jobWarnings, type Job } from '../../lib/jobs.ts'

const LABELS = {
  pending: 'Queued',
  running: 'Running',
  success: 'Done',
  failed: 'Failed',
  cancelled: 'Cancelled',
} as const

/** State of a job. */
export function JobBadge({ job }: { job: Job }): JSX.Element {
  const state = jobState(job)
  const stopping = job.cancel_requested && !job.terminal
  const warnings = jobWarnings(job).length
  if (warnings > 0) {
    return (
      <span class="badge warned">
        <span class="dot" aria-hidden="true" />
        {warnings === 1 ? 'Ended with a warning' : `Ended with ${warnings} warnings`}
      </span>
    )
  }
  return (
    <span class={`badge ${state}`}>
      <span class="dot" aria-hidden="true" />
      {stopping ? 'Stopping' : LABELS[state]}
    </span>
  )
}
