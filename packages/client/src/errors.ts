import type { AnyJob } from './tasks.ts'

/** A refused request: `code` is stable, `hint` is the remedy, `errors` has the invalid fields. */
export class TerraneProblem extends Error {
  override readonly name = 'TerraneProblem'
  readonly status: number
  readonly code: string
  readonly hint: string | null
  readonly details: string | null
  readonly errors: readonly { readonly path: string; readonly message: string }[]

  constructor(status: number, body: Partial<Omit<TerraneProblem, 'status'>>) {
    super(body.message ?? `the answer has status ${status}`)
    this.status = status
    this.code = body.code ?? `HTTP_${status}`
    this.hint = body.hint ?? null
    this.details = body.details ?? null
    this.errors = body.errors ?? []
  }
}

/** A job has failed, or was cancelled (`code` is `cancelled`). */
export class JobFailed extends Error {
  override readonly name = 'JobFailed'
  readonly job: AnyJob
  readonly code: string
  readonly hint: string | null
  readonly retryable: boolean

  constructor(job: AnyJob) {
    super(job.error?.message ?? `job ${job.id} has failed`)
    this.job = job
    this.code = job.error?.code ?? 'failed'
    this.hint = job.error?.hint ?? null
    this.retryable = job.error?.retryable ?? false
  }
}
