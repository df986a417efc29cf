import { Type, type Static } from 'typebox'
import { named, nullable, ref } from './named.ts'

/** The tasks of the worker. */
export const TASK_NAMES = [
  'osmImportArea',
  'overtureImportArea',
  'ogr2ogrImport',
  'createGeoEmbeddings',
  'createSraiEmbeddings',
  'importEmbeddings',
  'archiveToPmtiles',
  'exportTable',
  'osmUpdateArea',
  'trainClassifier',
  'classifyEmbeddings',
  'clusterEmbeddings',
] as const
export type TaskName = (typeof TASK_NAMES)[number]

export const JOB_STATUSES = ['pending', 'running', 'success', 'failed'] as const
/** Clients stop polling on `success` and `failed` only, so a cancelled job is `failed` with code `cancelled`. */
export type JobStatus = (typeof JOB_STATUSES)[number]

const JobStatusSchema = Type.Enum([...JOB_STATUSES])

export const JobError = named(
  'JobError',
  Type.Object({
    code: Type.String({
      description: 'Lower case: the job machinery (cancelled, worker_lost, size_guard_exceeded). Upper case: the task.',
    }),
    message: Type.String(),
    hint: nullable(Type.String()),
    details: nullable(Type.String()),
    retryable: Type.Boolean({ description: 'The same request may succeed later without a change.' }),
  }),
)
export type JobError = Static<typeof JobError>

export const JobProgress = named(
  'JobProgress',
  Type.Object({
    percent: nullable(Type.Number({ minimum: 0, maximum: 100 })),
    phase: Type.String(),
    message: Type.String(),
    done: Type.Integer({ minimum: 0 }),
    total: nullable(Type.Integer({ minimum: 0 })),
    unit: Type.String(),
    eta_seconds: nullable(Type.Number({ minimum: 0 })),
  }),
)
export type JobProgress = Static<typeof JobProgress>

/** The public record of a job. */
export const Job = named(
  'Job',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    job_id: Type.String({ format: 'uuid', description: 'The same as id.' }),
    taskName: Type.String(),
    status: JobStatusSchema,
    terminal: Type.Boolean({ description: 'True for success and failed.' }),
    project_ref: Type.String(),
    input: Type.Record(Type.String(), Type.Unknown(), { description: 'The request body without its secrets.' }),
    progress: nullable(ref(JobProgress)),
    result: nullable(Type.Record(Type.String(), Type.Unknown())),
    error: nullable(ref(JobError)),
    attempt: Type.Integer({ minimum: 0 }),
    max_attempts: Type.Integer({ minimum: 1 }),
    cancel_requested: Type.Boolean(),
    request_id: nullable(Type.String({ description: 'x-request-id of the request that asked for the job.' })),
    retry_of: nullable(Type.String({ format: 'uuid', description: 'The failed job that this one is another try of.' })),
    parent_id: nullable(Type.String({ format: 'uuid', description: 'The job that this one is a part of.' })),
    schedule_id: nullable(Type.String({ format: 'uuid', description: 'The schedule that submitted the job.' })),
    scheduled_for: nullable(Type.String({ format: 'date-time', description: 'For which of its times.' })),
    created_at: Type.String({ format: 'date-time' }),
    started_at: nullable(Type.String({ format: 'date-time' })),
    finished_at: nullable(Type.String({ format: 'date-time' })),
    updated_at: Type.String({ format: 'date-time' }),
    links: Type.Object(
      { self: Type.String(), cancel: Type.String(), events: Type.String(), log: Type.String() },
      { description: 'Paths below the base address of the worker.' },
    ),
  }),
)
export type Job = Static<typeof Job>

export const JobList = named(
  'JobList',
  Type.Object({ data: Type.Array(ref(Job)), next_cursor: nullable(Type.String()) }),
)
export type JobList = Static<typeof JobList>

/** Query of the list route. */
export const JobListQuery = Type.Object(
  {
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
    status: Type.Optional(JobStatusSchema),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, default: 20 })),
    cursor: Type.Optional(Type.String({ maxLength: 200, description: 'next_cursor of the page before.' })),
    schedule: Type.Optional(Type.String({ format: 'uuid', description: 'Jobs that this schedule has submitted.' })),
    parent: Type.Optional(
      Type.String({ format: 'uuid', description: 'Parts of this job. Default: jobs that are not parts.' }),
    ),
    order: Type.Optional(Type.Enum(['created_at.desc', 'created_at.asc'], { default: 'created_at.desc' })),
  },
  { additionalProperties: false },
)
export type JobListQuery = Static<typeof JobListQuery>

/** Events in the log of a job, one a line. */
export const JOB_LOG_EVENTS = [
  'submitted',
  'started',
  'step',
  'times',
  'warning',
  'retry',
  'lost',
  'handed_over',
  'cancel_requested',
  'succeeded',
  'failed',
] as const
export type JobLogEvent = (typeof JOB_LOG_EVENTS)[number]

export const JobLogLine = Type.Object({
  number: Type.Integer({ minimum: 1, description: 'Rises by one; where lines were left out there is a gap.' }),
  at: Type.String({ format: 'date-time' }),
  level: Type.Enum(['info', 'warning', 'error']),
  event: Type.Enum([...JOB_LOG_EVENTS], {
    description: 'A step of the task has a phase; times are those of all phases of a run.',
  }),
  attempt: Type.Integer({ minimum: 0, description: '0 before the first run.' }),
  phase: nullable(Type.String()),
  message: Type.String({ description: 'At most 1,000 bytes; URLs without user names, passwords and query values.' }),
  code: nullable(Type.String({ description: 'Of the error or warning.' })),
  request_id: nullable(Type.String({ description: 'x-request-id of the request that did this.' })),
})
export type JobLogLine = Static<typeof JobLogLine>

/** A page of a job's log. */
export const JobLog = named(
  'JobLog',
  Type.Object(
    {
      data: Type.Array(JobLogLine),
      last: Type.Integer({ minimum: 0, description: 'Send it as after to read on.' }),
      more: Type.Boolean({ description: 'There are lines beyond this page already.' }),
      dropped: Type.Integer({
        minimum: 0,
        description: 'Lines that were left out: a log has room for 900 steps, and for 1,000 lines in all.',
      }),
      terminal: Type.Boolean({ description: 'The job has ended: without more there is nothing to come.' }),
    },
    {
      examples: [
        {
          data: [
            {
              number: 1,
              at: '2026-11-22T14:00:00.000Z',
              level: 'info',
              event: 'submitted',
              attempt: 0,
              phase: null,
              message: 'Submitted',
              code: null,
              request_id: '0199c7a2-6d3e-7c1b-9c5e-2f6f0d1f7a10',
            },
            {
              number: 2,
              at: '2026-11-22T14:00:00.120Z',
              level: 'info',
              event: 'started',
              attempt: 1,
              phase: null,
              message: 'Started, attempt 1 of 3',
              code: null,
              request_id: null,
            },
          ],
          last: 2,
          more: false,
          dropped: 0,
          terminal: false,
        },
      ],
    },
  ),
)
export type JobLog = Static<typeof JobLog>

/** Query of the log route. */
export const JobLogQuery = Type.Object(
  {
    projectRef: Type.Optional(Type.String({ maxLength: 63, description: 'Required on the shared pool.' })),
    after: Type.Optional(
      Type.Integer({ minimum: 0, maximum: 2_147_483_647, default: 0, description: 'Lines with a larger number.' }),
    ),
    limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, default: 200 })),
  },
  { additionalProperties: false },
)

export const Capacity = named(
  'Capacity',
  Type.Object({
    maxH3Cells: Type.Integer({ description: 'createSraiEmbeddings: most H3 cells of one job; 0 = no limit.' }),
    maxGeoPatches: Type.Integer({ description: 'createGeoEmbeddings: most tiles of one raster; 0 = no limit.' }),
    maxGeotiffBytes: Type.Integer({ description: 'createGeoEmbeddings: largest raster file; 0 = no limit.' }),
    maxAoiKm2: Type.Number({ description: 'Largest area of interest of an import; 0 = no limit.' }),
    maxAoiVertices: Type.Integer({ description: 'Most positions of an area of interest.' }),
    workers: Type.Integer({ description: 'Jobs that this process runs at once.' }),
    queued: Type.Integer(),
    running: Type.Integer(),
    models: Type.Optional(
      Type.Array(
        Type.Object({
          id: Type.String({ description: 'What modelName takes.' }),
          available: Type.Boolean({ description: 'False when a job that names it is refused.' }),
          is_default: Type.Boolean({ description: 'True for the one that is taken when no modelName is given.' }),
        }),
        { description: 'createGeoEmbeddings: the models that this worker knows.' },
      ),
    ),
  }),
)
export type Capacity = Static<typeof Capacity>
