import type { JobError } from '@terrane/contracts'
import { TerraneError, defineError } from '@terrane/core'

export const unknownTask = defineError(
  'UNKNOWN_TASK',
  'not_found',
  (f: { task: string; known: readonly string[] }) => `There is no task ${f.task.slice(0, 100)}`,
  (f) => ({ hint: `Tasks: ${f.known.join(', ')}.` }),
)

export const queueTooNew = defineError(
  'QUEUE_TOO_NEW',
  'unavailable',
  (f: { version: number | null; known: number }) =>
    `The tables of the queue have version ${f.version} of pg-boss's schema; this worker knows ${f.known}`,
  () => ({ hint: 'Start the version of Terrane that made them or a later one, or restore a backup of this version.' }),
)

export const taskNotBuilt = defineError(
  'NOT_IMPLEMENTED',
  'not_implemented',
  (f: { task: string }) => `The task ${f.task} is not available in this worker yet`,
)

export const jobNotFound = notFound('JOB_NOT_FOUND', 'job')
export const scheduleNotFound = notFound('SCHEDULE_NOT_FOUND', 'schedule')
export const webhookNotFound = notFound('WEBHOOK_NOT_FOUND', 'webhook')
export const tableHookNotFound = notFound('TABLE_HOOK_NOT_FOUND', 'table hook')

export const schedulesFull = full('SCHEDULES_FULL', 'schedules')
export const webhooksFull = full('WEBHOOKS_FULL', 'webhooks')
export const tableHooksFull = full('TABLE_HOOKS_FULL', 'table hooks')

/** A hook that a function declares in function.json. */
export const hookDeclared = defineError(
  'HOOK_DECLARED',
  'conflict',
  (f: { name: string }) => `The function ${f.name} declares this hook`,
  () => ({ hint: 'Take its entry out of tables or jobs in function.json and deploy the function, or pause the hook.' }),
)

function notFound(code: string, noun: string) {
  return defineError(code, 'not_found', (f: { id: string }) => `There is no ${noun} ${f.id.slice(0, 100)}`)
}

function full(code: string, nouns: string) {
  return defineError(
    code,
    'conflict',
    (f: { most: number }) => `The project has ${f.most} ${nouns}, which is the maximum`,
    () => ({ hint: 'Delete one that is not needed.' }),
  )
}

export const jobNotFailed = defineError(
  'JOB_NOT_FAILED',
  'conflict',
  (f: { status: string }) => `Only a job that has failed can be tried again; this one is ${f.status}`,
  () => ({ hint: 'Cancel it first, or submit the request again.' }),
)

export const shardNotRetried = defineError(
  'JOB_IS_A_PART',
  'conflict',
  (f: { parent: string }) => `This job is a part of the job ${f.parent}; only the whole job can be tried again`,
  () => ({ hint: 'Submit the whole request again with mode "append"; finished parts are skipped.' }),
)

export const noJobYet = defineError(
  'JOB_NOT_FOUND',
  'not_found',
  (f: { task: string }) => `There is no job of ${f.task} yet`,
)

export const lanesStuck = defineError(
  'WORKER_LANES_STUCK',
  'unavailable',
  (f: { tasks: readonly string[]; seconds: number }) =>
    `The worker has not looked for jobs of these tasks for ${f.seconds} s: ${f.tasks.join(', ')}`,
  () => ({ hint: 'Check that the database answers; if it does, restart the worker.' }),
)

export const projectRefMissing = defineError(
  'PROJECT_REF_REQUIRED',
  'invalid',
  (f: { path: string }) => `The shared pool needs ${f.path.slice(1).replaceAll('/', '.')}`,
  (f) => ({ errors: [{ path: f.path, message: 'is required on the shared pool' }] }),
)

export const targetNotAllowed = defineError(
  'PROJECT_TARGET_REFUSED',
  'forbidden',
  () => 'This pool does not accept credentials in projectTarget',
  () => ({ hint: 'Send only projectTarget.projectRef; the project has to be registered with the pool.' }),
)

export const targetIncomplete = defineError(
  'PROJECT_TARGET_INCOMPLETE',
  'invalid',
  (f: { field: string }) => `The project is not registered with this pool, so projectTarget.${f.field} is needed`,
  (f) => ({
    errors: [{ path: `/projectTarget/${f.field}`, message: 'is needed for a project that is not registered' }],
  }),
)

export const projectDatabaseRefused = defineError(
  'PROJECT_DATABASE_REFUSED',
  'invalid',
  (f: { reason: string; isOfRequest: boolean }) => `The database of the project cannot be used: ${f.reason}`,
  (f) =>
    f.isOfRequest
      ? {
          hint: 'Send postgres://user:password@host:port/database of a role that may make schemas and tables there.',
          errors: [{ path: '/projectTarget/databaseUrl', message: 'must lead to a database that this pool may use' }],
        }
      : { hint: 'Register the project again with the correct database URL.' },
)

export const browserRefused = defineError(
  'BROWSER_REFUSED',
  'forbidden',
  () => 'Browsers may not call the worker: a service key must never be in a page',
  () => ({ hint: 'Call the worker from server-side code, or use the console.' }),
)

export const wrongRole = defineError(
  'FORBIDDEN',
  'forbidden',
  (f: { need: string }) => `This key may not use the worker: ${f.need} is needed`,
)

export const idempotencyMismatch = defineError(
  'IDEMPOTENCY_KEY_REUSED',
  'invalid',
  (f: { hours: number }) => `This Idempotency-Key was used with another body within the last ${f.hours} hours`,
  () => ({
    hint: 'Use a new key for a new request.',
    errors: [{ path: '/headers/idempotency-key', message: 'was used with another body' }],
  }),
)

export const invalidCursor = defineError(
  'INVALID_CURSOR',
  'invalid',
  () => 'cursor is not one that a list has returned',
  () => ({ errors: [{ path: '/querystring/cursor', message: 'must be a next_cursor of this list' }] }),
)

export const functionsOff = defineError(
  'FUNCTIONS_OFF',
  'unavailable',
  (f: { need: string }) => `Functions of this project cannot be called from here: ${f.need} is not set`,
  (f) => ({ hint: `Set ${f.need}, or name an address instead of a function.` }),
)

export const secretsKeyMissing = defineError(
  'INVALID_CONFIG',
  'invalid',
  () => 'TERRANE_SECRETS_KEY is not set: 32 bytes as 64 hex digits or base64, to seal credentials in the shared pool',
)

/** Errors of jobs that come from the queue and not from the task. Their codes are part of the contract. */
export const cancelled = defineError('cancelled', 'cancelled', () => 'The job was cancelled')
export const workerLost = defineError(
  'worker_lost',
  'unavailable',
  (f: { attempts: number }) => `The worker was lost ${f.attempts} times while it ran this job`,
  () => ({ hint: 'Try again; if it happens again, the job may need more memory than the worker has.' }),
)
export const timedOut = defineError(
  'timed_out',
  'timeout',
  (f: { seconds: number }) => `The job did not end within ${f.seconds} s`,
)
export const shuttingDown = defineError(
  'worker_stopping',
  'unavailable',
  () => 'The worker is stopping; another one takes the job over',
)

/** A full disk, with sizes where they are known. */
interface FullDisk {
  readonly folder?: string
  readonly neededBytes?: number
  readonly freeBytes?: number
  /** Bytes of the whole disk, where `freeBytes` was read after the job's files were removed. */
  readonly totalBytes?: number
}

export const diskFull = defineError(
  'DISK_FULL',
  'unavailable',
  (f: FullDisk) => {
    const figures = [
      f.neededBytes === undefined ? [] : `${f.neededBytes} bytes are needed`,
      f.freeBytes === undefined ? [] : freeText(f.freeBytes, f.totalBytes),
      f.folder === undefined ? [] : `the folder is ${f.folder}`,
    ].flat()
    const text = 'The worker has no space left for the files of this job'
    return figures.length === 0 ? text : `${text}: ${figures.join(', ')}`
  },
  () => ({
    hint: 'Nothing was changed. The operator has to free disk space in TERRANE_WORK_DIR or TERRANE_CACHE_DIR.',
  }),
)

function freeText(free: number, total: number | undefined): string {
  return total === undefined
    ? `${free} bytes are free`
    : `${free} of ${total} bytes are free without the files of this job`
}

const databaseFull = defineError(
  'DATABASE_FULL',
  'unavailable',
  () => 'The database of the project has no space left',
  () => ({ hint: 'Nothing was changed. Free space in the database, then submit the job again.' }),
)
const connectionLost = defineError(
  'CONNECTION_LOST',
  'upstream',
  (f: { reason: string }) => `A connection was lost (${f.reason})`,
  () => ({ hint: 'Try again in a few seconds.' }),
)

/** Anything thrown by a task, as an error that may be shown. @param disk facts about the folder that it wrote to */
export function toShowable(thrown: unknown, disk: FullDisk = {}): TerraneError {
  for (let cause = thrown, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth++) {
    const { code } = cause as { code?: unknown }
    if (code === 'STORAGE_FULL' || code === 'DISK_FULL') break
    if (code === 'ENOSPC' || code === 'EDQUOT' || code === 'SCRATCH_FULL') return diskFull(disk, { cause: thrown })
    if (code === '53100') return databaseFull(undefined, { cause: thrown })
    if (thrown instanceof TerraneError) continue
    if (code === 'ECONNRESET' || code === 'EPIPE' || code === 'ETIMEDOUT')
      return connectionLost({ reason: code }, { cause: thrown })
  }
  if (thrown instanceof TerraneError) return thrown
  return new TerraneError('INTERNAL', 'internal', 'Something went wrong on our side', { cause: thrown })
}

/** The public error of a failed job. */
export function toJobError(error: TerraneError): JobError {
  return {
    code: error.code,
    message: error.message,
    hint: error.hint,
    details: error.details,
    retryable: error.retryable,
  }
}
