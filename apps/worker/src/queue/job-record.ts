import type { Job } from '@terrane/contracts'
import type { JobRow } from './job-row.ts'

/** The public record of a stored job. */
export function toRecord(row: JobRow): Job {
  const self = `/jobs/${row.task}/${row.id}`
  return {
    id: row.id,
    job_id: row.id,
    taskName: row.task,
    status: row.status,
    terminal: row.status === 'success' || row.status === 'failed',
    project_ref: row.project_ref,
    input: row.input,
    progress: row.progress,
    result: row.result,
    error: row.error,
    attempt: row.attempt,
    max_attempts: row.max_attempts,
    cancel_requested: row.cancel_requested,
    request_id: row.request_id,
    retry_of: row.retry_of,
    parent_id: row.parent_id,
    schedule_id: row.schedule_id,
    scheduled_for: row.scheduled_for?.toISOString() ?? null,
    created_at: row.created_at.toISOString(),
    started_at: row.started_at?.toISOString() ?? null,
    finished_at: row.finished_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
    links: { self, cancel: self, events: `${self}/events`, log: `${self}/log` },
  }
}
