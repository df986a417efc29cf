import { IDEMPOTENCY_HOURS, Job, Problem, TASK_NAMES, ref, type ProjectTarget } from '@terrane/contracts'
import type { Http } from '@terrane/service'
import { Type } from 'typebox'
import { taskNotBuilt, unknownTask } from '../errors.ts'
import { checkSubmission } from '../queue/check-submission.ts'
import { toRecord } from '../queue/job-record.ts'
import type { SubmitContext, Task } from '../jobs/task.ts'
import type { OpenProject, ProjectDirectory } from '../projects/project-directory.ts'
import type { Submission, Submitter } from '../queue/submit.ts'
import { principalOf } from './access.ts'
import { located } from './guarded.ts'

/** Dependencies for submitting jobs. */
export interface SubmitDeps {
  readonly projects: Pick<ProjectDirectory, 'scope' | 'openForSubmit'>
  readonly tasks: readonly Task[]
  readonly submitter: Pick<Submitter, 'replay' | 'submit'>
  readonly checkUrl: SubmitContext['checkUrl']
}

const HEADERS = Type.Object({
  'idempotency-key': Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 255,
      description: `The same key and body within ${IDEMPOTENCY_HOURS} hours replay the first answer.`,
    }),
  ),
})

/** Polling interval for clients, in seconds; the documented clients start with this. */
export const RETRY_AFTER_SECONDS = '5'
/** `POST /jobs/{taskName}`: one route per task, so that each has its own schema in the OpenAPI document. */
export function submitRoutes(app: Http, deps: SubmitDeps): void {
  const tasks = new Map<string, Task>(deps.tasks.map((task) => [task.name, task]))
  for (const name of TASK_NAMES) {
    const task = tasks.get(name)
    if (task) submitRoute(app, deps, task)
    else missingRoute(app, name)
  }
  app.post<{ Params: { taskName: string } }>('/jobs/:taskName', { schema: { hide: true } }, async (request) => {
    throw unknownTask({ task: request.params.taskName, known: TASK_NAMES })
  })
}

function submitRoute(app: Http, deps: SubmitDeps, task: Task): void {
  const schema = {
    operationId: task.name,
    summary: task.summary,
    description: task.description,
    tags: ['jobs'],
    security: [{ apikey: [], bearer: [] }],
    headers: HEADERS,
    body: task.body,
    response: {
      200: { ...ref(Job), description: 'The job of an earlier request with the same Idempotency-Key.' },
      202: { ...ref(Job), description: 'The job is queued.' },
      '4xx': ref(Problem),
      '5xx': ref(Problem),
    },
  }
  app.post(`/jobs/${task.name}`, { schema }, async (request, reply) => {
    const input = request.body as Record<string, unknown> & { projectTarget?: ProjectTarget }
    const scope = await deps.projects.scope(
      principalOf(request),
      input.projectTarget?.projectRef,
      '/projectTarget/projectRef',
    )
    const submission = { task, scope, input, idempotencyKey: request.headers['idempotency-key'], requestId: request.id }
    let row = await deps.submitter.replay(submission)
    let status = 200
    if (!row) {
      await using project = await deps.projects.openForSubmit(scope, input.projectTarget)
      const submitted = await checkAndSubmit(deps, submission, project)
      row = submitted.row
      status = submitted.replayed ? 200 : 202
    }
    const record = toRecord(row)
    return located(request, reply, record)
      .code(status as 202)
      .header('retry-after', RETRY_AFTER_SECONDS)
      .send(record)
  })
}

/** Checks a request and queues its job. */
export async function checkAndSubmit(
  deps: Pick<SubmitDeps, 'submitter' | 'checkUrl'>,
  submission: Submission,
  project: Pick<OpenProject, 'database' | 'store'>,
) {
  await checkSubmission(submission, project, deps.checkUrl)
  return deps.submitter.submit(submission)
}

function missingRoute(app: Http, name: string): void {
  const schema = {
    operationId: name,
    summary: 'Not built yet',
    description: 'Part of the contract; this worker answers 501 until it is built.',
    tags: ['jobs'],
    response: { '4xx': ref(Problem), 501: ref(Problem) },
  }
  app.post(`/jobs/${name}`, { schema }, async () => {
    throw taskNotBuilt({ task: name })
  })
}
