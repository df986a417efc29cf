import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { BASEMAP_TABLES } from '@terrane/map-style/basemap'
import { Code, Loading, ProblemNotice, Prose } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { formOf, type GroupField } from '../../forms/fields.ts'
import { missingSources } from '../../forms/layouts.ts'
import type { TaskDescription } from '../../forms/openapi.ts'
import { groupOf, isGiven, readField } from '../../forms/read-form.ts'
import type { FormState, Group, Problems } from '../../forms/read-form.ts'
import { TaskForm } from '../../forms/task-form.tsx'
import { readBuckets } from '../../lib/files.ts'
import { get, projectPath, type Problem } from '../../lib/api.ts'
import { submitJob, type Job } from '../../lib/jobs.ts'
import { formatJson } from '../../lib/format.ts'
import { modelInstead } from '../../lib/models.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate, usePlace } from '../../lib/router.tsx'
import { readTables } from '../../lib/tables.ts'
import { taskFace, taskLabel } from '../../lib/tasks.ts'
import { useAction } from '../../lib/use-action.ts'
import { useResource } from '../../lib/use-resource.ts'
import { useCapacity, useTasks } from '../../lib/worker.ts'
import { Crumbs } from './crumbs.tsx'
import { FilePreview } from './file-preview.tsx'
import { ScheduleBox } from './schedule-box.tsx'

const REDACTED = '[redacted]'
/** URL parameters that do not fill a field of the form. */
const QUERY: ReadonlySet<string> = new Set(['again', 'basemap'])

/** A form for a task, made from the worker's own description. `?again={job_id}` starts from an earlier job's input. */
export function NewJobPage({ project, task }: { project: Project; task: string }): JSX.Element {
  const { query } = usePlace()
  const again = query.get('again')
  const tasks = useTasks(project.ref)
  const earlier = useResource(again, (signal) => get<Job>(projectPath(project.ref, `/jobs/${task}/${again}`), signal))
  const description = tasks.value?.find(({ name }) => name === task)
  const problem = tasks.problem ?? earlier.problem
  const ready = description && (again === null || earlier.value || earlier.problem)
  const presets = Object.fromEntries(
    [...query].filter(([name]) => !QUERY.has(name)).map(([name, value]) => [name, presetOf(value)]),
  )
  if (query.has('basemap')) presets['topics'] = BASEMAP_TABLES
  return (
    <div class="page">
      <div>
        <Crumbs projectRef={project.ref}>
          <span aria-hidden="true">/</span>
          <Link href={`/p/${project.ref}/new`}>New</Link>
        </Crumbs>
        <h1>{taskLabel(task)}</h1>
        <p class="dim lead">{taskFace(task)?.about ?? <Prose text={description?.description ?? ''} />}</p>
        {taskFace(task) && description && (
          <details class="about-task small dim">
            <summary>Details</summary>
            <p>
              <Prose text={description.description} />
            </p>
          </details>
        )}
      </div>
      {problem && <ProblemNotice problem={problem} onRetry={tasks.reload} />}
      {!problem && !ready && <Loading what="Loading the form" />}
      {ready && description.body && (
        <JobForm project={project} task={description} input={earlier.value?.input ?? presets} />
      )}
      {tasks.value && !description?.body && <p>This worker does not offer the task {task}.</p>}
    </div>
  )
}

function JobForm(props: { project: Project; task: TaskDescription; input: Group }): JSX.Element {
  const { project, task } = props
  const { field, entered, enter, body, problems, suggestions } = useTaskInput(project, task, props.input)
  const { busy, problem: answer, run, clear } = useAction()
  const [checked, setChecked] = useState(false)
  const form = useRef<HTMLFormElement>(null)

  const isReady = () => {
    setChecked(true)
    clear()
    // Runs after the messages are rendered.
    if (problems.size > 0) setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    return problems.size === 0
  }
  const submit = async () => {
    const job = await submitJob(project.ref, task.name, body)
    navigate(`/p/${project.ref}/jobs/${job.taskName}/${job.job_id}`)
  }
  const context = {
    projectRef: project.ref,
    problems: withAnswer(checked ? problems : new Map(), answer),
    suggestions,
    variants: entered.variants,
    onVariants: (variants: FormState['variants']) => enter((now) => ({ ...now, variants })),
  }
  const change = (next: Group) => {
    clear()
    enter((now) => ({ ...now, body: next }))
  }
  return (
    <form
      ref={form}
      class="job-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady()) void run(submit)
      }}
    >
      <div class="card">
        <div class="fields">
          <TaskForm task={task.name} field={field} body={entered.body} form={context} onChange={change} />
        </div>
      </div>
      <aside>
        {answer && <ProblemNotice problem={answer} />}
        {checked && problems.size > 0 && (
          <p class="problem" role="alert">
            Check the marked fields.
          </p>
        )}
        <button type="submit" class="button primary" disabled={busy}>
          <Icon name="play" size={14} />
          {busy ? 'Submitting …' : 'Start the job'}
        </button>
        <RequestTools project={project} task={task.name} body={body} ready={isReady} />
      </aside>
    </form>
  )
}

/** Tools beside a form: a preview of its file, a schedule, and the request itself. */
function RequestTools(props: { project: Project; task: string; body: unknown; ready: () => boolean }): JSX.Element {
  const { project, task, body, ready } = props
  return (
    <>
      {task === 'ogr2ogrImport' && <FilePreview projectRef={project.ref} body={groupOf(body)} />}
      <ScheduleBox projectRef={project.ref} task={task} input={body} ready={ready} />
      <div>
        <h2 class="small dim">Request body</h2>
        <Code label="Request body" text={formatJson(body)} />
      </div>
    </>
  )
}

/** Values of a task's form, and the request body made of them. */
function useTaskInput(project: Project, task: TaskDescription, input: Group) {
  const field = useMemo(() => formOf(task.body ?? {}) as GroupField, [task])
  const [entered, enter] = useState<FormState>(() => ({ body: withoutSecrets(input), variants: {} }))
  const capacity = useCapacity(project.ref)
  const models = capacity.value?.models ?? []
  const instead = modelInstead(models)
  useEffect(() => {
    if (instead === undefined) return
    enter((now) => (isGiven(now.body['modelName']) ? now : { ...now, body: { ...now.body, modelName: instead } }))
  }, [instead])
  const problems: Problems = new Map()
  const { maxAoiKm2: maxAreaKm2 = 0, maxAoiVertices: maxVertices } = capacity.value ?? {}
  const check = { problems, variants: entered.variants, maxAreaKm2, maxVertices }
  const body = readField(field, entered.body, check)
  for (const pointer of missingSources(task.name, groupOf(body))) {
    if (![...problems.keys()].some((path) => path.startsWith(pointer))) problems.set(pointer, 'is required')
  }
  const modelName = models.filter((model) => model.available).map(({ id }) => id)
  return { field, entered, enter, body, problems, suggestions: { ...useSuggestions(project.ref), modelName } }
}

/** Assigns the worker's field errors to their fields, or to the nearest enclosing field. */
function withAnswer(problems: Problems, answer: Problem | null): Problems {
  const all = new Map(problems)
  for (const { path, message } of answer?.errors ?? []) {
    for (let pointer = path; pointer !== ''; pointer = pointer.slice(0, pointer.lastIndexOf('/'))) {
      const inside = path.slice(pointer.length)
      all.set(pointer, inside ? `${message} (at ${inside})` : message)
    }
  }
  return all
}

/** Redacted values are left out, so that the user enters them again. */
function withoutSecrets(input: Group): Group {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !JSON.stringify(value)?.includes(REDACTED)))
}

/** Existing names for fields that refer to them: tables and buckets of the project. */
function useSuggestions(ref: string): Readonly<Record<string, readonly string[]>> {
  const tables = useResource(`tables ${ref}`, (signal) => readTables(ref, signal))
  const buckets = useResource(`buckets ${ref}`, (signal) => readBuckets(ref, signal))
  return {
    table: (tables.value ?? []).map(({ table_name: name }) => name),
    bucket: (buckets.value ?? []).map(({ name }) => name),
  }
}

/** A field's value from the URL: text, or an object as JSON. */
function presetOf(text: string): unknown {
  if (!text.startsWith('{')) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
