import { TASK_EXAMPLES, TASK_NAMES, TASK_RESULTS, type TaskName } from '@terrane/contracts'

type Json = Record<string, unknown>
interface Document {
  readonly paths?: Record<string, Record<string, Json & { responses?: Record<string, Json>; requestBody?: Json }>>
  readonly components?: { schemas?: Record<string, Json> }
}

/** Adds a `<Task>Job` per task to the document only; `Job` serialises answers, which keeps fields of later versions. */
export function describeJobs(document: Document): Document {
  const schemas = document.components?.schemas ?? {}
  const job = schemas['Job'] as (Json & { properties: Record<string, Json> }) | undefined
  const paths = document.paths ?? {}
  if (!job) return document
  for (const task of TASK_NAMES) {
    const submit = paths[`/jobs/${task}`]?.['post']
    const body = Object.values((submit?.requestBody?.['content'] ?? {}) as Record<string, Json>)[0]
    if (!submit || !body) continue
    body['example'] = TASK_EXAMPLES[task]
    const { $id: _, ...result } = TASK_RESULTS[task] as unknown as Json
    schemas[nameOf(task)] = {
      ...job,
      title: nameOf(task),
      properties: {
        ...job.properties,
        taskName: { type: 'string', const: task },
        result: { anyOf: [result, { type: 'null' }], description: 'Null until the job has succeeded.' },
      },
    }
    for (const status of ['200', '202']) answer(submit.responses?.[status], { $ref: reference(task) })
  }
  const described = TASK_NAMES.filter((task) => nameOf(task) in schemas)
  const mapping = Object.fromEntries(described.map((task) => [task, reference(task)]))
  const oneOf = described.map((task) => ({ $ref: reference(task) }))
  const look = paths['/jobs/{taskName}/{job_id}']?.['get']?.responses?.['200']
  answer(look, { oneOf, discriminator: { propertyName: 'taskName', mapping } })
  return document
}

function nameOf(task: TaskName): string {
  return `${task[0]!.toUpperCase()}${task.slice(1)}Job`
}

function reference(task: TaskName): string {
  return `#/components/schemas/${nameOf(task)}`
}

function answer(response: Json | undefined, schema: Json): void {
  const content = response?.['content'] as Record<string, Json> | undefined
  if (content?.['application/json']) content['application/json']['schema'] = schema
}
