import type { JSX } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { Code, Loading, ProblemNotice, Prose } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { DesignedForm } from '../../forms/designed-form.tsx'
import { missingSources } from '../../forms/designs.ts'
import { draftOf, readDraft, type Draft, type GroupDraft, type Problems } from '../../forms/drafts.ts'
import { formOf, type GroupField } from '../../forms/fields.ts'
import type { TaskDescription } from '../../forms/openapi.ts'
import { readBuckets } from '../../lib/files.ts'
import { projectPath, request, toProblem, type Problem } from '../../lib/api.ts'
import { submitJob, type Job } from '../../lib/jobs.ts'
import { formatJson } from '../../lib/format.ts'
import { modelInstead } from '../../lib/models.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate, usePlace } from '../../lib/router.tsx'
import { readTables } from '../../lib/tables.ts'
import { taskFace, taskLabel } from '../../lib/tasks.ts'
import { useResource } from '../../lib/use-resource.ts'
import { useCapacity, useTasks } from '../../lib/worker.ts'
import { Crumbs } from './crumbs.tsx'
import { FilePreview } from './file-preview.tsx'
import { ScheduleBox } from './schedule-box.tsx'

const REDACTED = '[redacted]'

/** A form for a task, made from the worker's own description. `?again={job_id}` starts from an earlier job's input. */
export function NewJobPage({ project, task }: { project: Project; task: string }): JSX.Element {
  const { query } = usePlace()
  const again = query.get('again')
  const tasks = useTasks(project.ref)
  const earlier = useResource(again, (signal) =>
    request<Job>('GET', projectPath(project.ref, `/jobs/${task}/${again}`), undefined, signal),
  )
  const description = tasks.value?.find(({ name }) => name === task)
  const problem = tasks.problem ?? earlier.problem
  const ready = description && (again === null || earlier.value || earlier.problem)
  const presets = Object.fromEntries(
    [...query].filter(([name]) => name !== 'again').map(([name, value]) => [name, presetOf(value)]),
  )
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
      {!problem && !ready && <Loading what="Asking the worker" />}
      {ready && description.body && (
        <JobForm project={project} task={description} input={earlier.value?.input ?? presets} />
      )}
      {tasks.value && !description?.body && <p>This worker does not offer the task {task}.</p>}
    </div>
  )
}

function JobForm(props: {
  project: Project
  task: TaskDescription
  input: Readonly<Record<string, unknown>>
}): JSX.Element {
  const { project, task } = props
  const field = useMemo(() => formOf(task.body ?? {}), [task])
  const [draft, setDraft] = useState<Draft>(() => draftOf(field, withoutSecrets(props.input)))
  const [answer, setAnswer] = useState<Problem | null>(null)
  const [checked, setChecked] = useState(false)
  const [busy, setBusy] = useState(false)
  const capacity = useCapacity(project.ref)
  const models = capacity.value?.models ?? []
  const available = models.filter((model) => model.available).map(({ id }) => id)
  const suggestions = { ...useSuggestions(project.ref), modelName: available }
  const instead = modelInstead(models)
  useEffect(() => {
    if (instead !== undefined) setDraft((now) => withText(now, 'modelName', instead))
  }, [instead])
  const form = useRef<HTMLFormElement>(null)

  const problems: Problems = new Map()
  const body = readDraft(field, draft, problems, { maxAreaKm2: capacity.value?.maxAoiKm2 ?? 0 })
  for (const pointer of missingSources(task.name, body ?? {})) {
    if (![...problems.keys()].some((path) => path.startsWith(pointer))) problems.set(pointer, 'is required')
  }
  const shown = checked ? withAnswer(problems, answer) : withAnswer(new Map(), answer)

  const isReady = () => {
    setChecked(true)
    setAnswer(null)
    // Runs after the messages are rendered.
    if (problems.size > 0) setTimeout(() => form.current?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
    return problems.size === 0
  }
  const submit = async () => {
    if (!isReady()) return
    setBusy(true)
    try {
      const job = await submitJob(project.ref, task.name, body)
      navigate(`/p/${project.ref}/jobs/${job.taskName}/${job.job_id}`)
    } catch (error) {
      setAnswer(toProblem(error))
      setBusy(false)
    }
  }
  return (
    <form
      ref={form}
      class="job-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void submit()
      }}
    >
      <div class="card">
        <div class="fields">
          <DesignedForm
            task={task.name}
            field={field as GroupField}
            draft={draft as GroupDraft}
            problems={shown}
            suggestions={suggestions}
            projectRef={project.ref}
            onChange={(next) => {
              setAnswer(null)
              setDraft(next)
            }}
          />
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
        {task.name === 'ogr2ogrImport' && (
          <FilePreview projectRef={project.ref} body={(body ?? {}) as Record<string, unknown>} />
        )}
        <ScheduleBox projectRef={project.ref} task={task.name} input={body} ready={isReady} />
        <div>
          <h2 class="small dim">Request body</h2>
          <Code label="Request body" text={formatJson(body)} />
        </div>
      </aside>
    </form>
  )
}

/** Assigns the worker's field errors to their fields, or to the nearest enclosing ones. */
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

/** Inputs with a redacted value are left out, so that the person enters them again. */
function withoutSecrets(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !JSON.stringify(value)?.includes(REDACTED)))
}

/** Existing names in the project for fields that refer to them: tables and buckets. */
function useSuggestions(ref: string): Readonly<Record<string, readonly string[]>> {
  const tables = useResource(`tables ${ref}`, (signal) => readTables(ref, signal))
  const buckets = useResource(`buckets ${ref}`, (signal) => readBuckets(ref, signal))
  return {
    table: (tables.value ?? []).map(({ table_name: name }) => name),
    bucket: (buckets.value ?? []).map(({ name }) => name),
  }
}

/** A draft with a text in one of its fields, unless the field has one already. */
function withText(draft: Draft, name: string, text: string): Draft {
  const { group } = draft as GroupDraft
  return group[name] === '' ? { group: { ...group, [name]: text } } : draft
}

/** A field's value in the address: text, or an object as JSON. */
function presetOf(text: string): unknown {
  if (!text.startsWith('{')) return text
  try {
    return JSON.parse(text) as unknown
  } catch {
    return text
  }
}
