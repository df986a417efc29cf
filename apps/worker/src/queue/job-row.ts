import type { JobError, JobProgress, JobStatus } from '@terrane/contracts'

/** Columns that name the owner of a row. */
export interface Owner {
  readonly project_ref: string
  readonly organization_id: string | null
  readonly project_id: string | null
}

/** A job as stored. */
export interface JobRow extends Owner {
  readonly id: string
  readonly task: string
  readonly status: JobStatus
  readonly input: Record<string, unknown>
  readonly sealed_input: Buffer
  readonly progress: JobProgress | null
  readonly result: Record<string, unknown> | null
  readonly error: JobError | null
  readonly attempt: number
  readonly max_attempts: number
  readonly cancel_requested: boolean
  /** The job that this one is a shard of. */
  readonly parent_id: string | null
  /** True while the job waits for its shards; no worker holds it then. */
  readonly waits: boolean
  readonly request_id: string | null
  /** The trace of the request that submitted the job. */
  readonly traceparent: string | null
  readonly retry_of: string | null
  readonly schedule_id: string | null
  readonly scheduled_for: Date | null
  readonly revision: number
  readonly created_at: Date
  readonly started_at: Date | null
  readonly finished_at: Date | null
  readonly updated_at: Date
}

/** Filter of the jobs that a caller may see. */
export interface JobScope {
  readonly projectRef: string
  readonly organizationId: string | null
  /** Null for the one project of local mode and for references that are not registered. */
  readonly projectId: string | null
}

/** Unique key of a project: equal references of two organizations are two projects. */
export function scopeKey(scope: JobScope): string {
  return scope.organizationId === null ? scope.projectRef : `${scope.organizationId}/${scope.projectRef}`
}

export interface NewJob {
  readonly id: string
  readonly task: string
  readonly scope: JobScope
  readonly input: Readonly<Record<string, unknown>>
  readonly sealedInput: Buffer
  readonly maxAttempts: number
  readonly requestId: string | null
  readonly traceparent: string | null
  readonly retryOf: string | null
  /** The job that it is a shard of. */
  readonly parentId?: string
  /** The schedule that submits it, and the time of that schedule. */
  readonly schedule: { readonly id: string; readonly at: Date } | null
}

/** The project and organization of the job. */
export function scopeOf(row: Pick<JobRow, 'project_ref' | 'organization_id' | 'project_id'>): JobScope {
  return { projectRef: row.project_ref, organizationId: row.organization_id, projectId: row.project_id }
}
