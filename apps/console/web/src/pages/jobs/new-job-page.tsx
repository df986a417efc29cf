import type { JSX } from 'preact'
import { useMemo, useRef, useState } from 'preact/hooks'
import { Code, Loading, ProblemNotice, Prose } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import { draftOf, emptyDraft, readDraft, type Draft, type GroupDraft, type Problems } from '../../forms/drafts.ts'
import { FieldView, isWide } from '../../forms/field-view.tsx'
import { formOf, type Field } from '../../forms/fields.ts'
import type { TaskDescription } from '../../forms/openapi.ts'
import { projectPath, request, toProblem, type Problem } from '../../lib/api.ts'
import { readJobs, submitJob, type Job } from '../../lib/jobs.ts'
import { formatJson } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate, usePlace } from '../../lib/router.tsx'
import { taskLabel } from '../../lib/tasks.ts'
import { useResource } from '../../lib/use-resource.ts'
import { useCapacity, useTasks } from '../../lib/worker.ts'
import { Crumbs } from './crumbs.tsx'
import { ScheduleBox } from './schedule-box.tsx'

const REDACTED = '[redacted]'
/** Fields that say what a job works on. One of several is needed, so that none of them is required. */
const SOURCES: ReadonlySet<string> = new Set(['geotiffPath', 'storagePath', 'fileUrl'])

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
          <Link href={`/p/${project.ref}/new`}>New job</Link>
        </Crumbs>
        <h1>{taskLabel(task)}</h1>
        <p class="dim lead">
          <Prose text={description?.description ?? ''} />
        </p>
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
  const suggestions = useSuggestions(project.ref)
  const form = useRef<HTMLFormElement>(null)

  const problems: Problems = new Map()
  const body = readDraft(field, draft, problems, { maxAreaKm2: capacity.value?.maxAoiKm2 ?? 0 })
  const shown = checked ? withAnswer(problems, answer) : withAnswer(new Map(), answer)

  const isReady = () => {
    setChecked(true)
    setAnswer(null)
    // After the messages are there.
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
          <Fields
            field={field}
            draft={draft}
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
            {problems.size === 1 ? 'One field needs' : `${problems.size} fields need`} attention.
          </p>
        )}
        <button type="submit" class="button primary" disabled={busy}>
          <Icon name="play" size={14} />
          {busy ? 'Submitting …' : 'Start the job'}
        </button>
        <ScheduleBox projectRef={project.ref} task={task.name} input={body} ready={isReady} />
        <div>
          <h2 class="small dim">Request body</h2>
          <Code label="Request body" text={formatJson(body)} />
        </div>
      </aside>
    </form>
  )
}

/** Required fields first, then the options. */
function Fields(props: Parameters<typeof FieldView>[0]): JSX.Element {
  const { field, draft, onChange } = props
  if (field.kind !== 'group') return <FieldView {...props} />
  const { group } = draft as GroupDraft
  const show = (inner: Field) => (
    <div key={inner.pointer} class={isWide(inner) ? 'wide' : ''}>
      <FieldView
        {...props}
        field={inner}
        draft={group[inner.name] ?? emptyDraft(inner)}
        onChange={(next) => onChange({ group: { ...group, [inner.name]: next } })}
      />
    </div>
  )
  const options = field.fields.filter((inner) => !leads(inner))
  return (
    <>
      {field.fields.filter(leads).map(show)}
      {options.length > 0 && <h2 class="section">Options</h2>}
      {options.map(show)}
    </>
  )
}

function leads({ name, required }: Field): boolean {
  return required || SOURCES.has(name)
}

/** What the worker said about a field goes to that field, or to the nearest one around it. */
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

/** Inputs that hold a hidden value do not come back: the person enters them anew. */
function withoutSecrets(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(input).filter(([, value]) => !JSON.stringify(value)?.includes(REDACTED)))
}

/** Tables that the last imports made, for fields that name one. */
function useSuggestions(ref: string): Readonly<Record<string, readonly string[]>> {
  const jobs = useResource(`imports ${ref}`, async (signal) => {
    const pages = await Promise.all(
      ['osmImportArea', 'overtureImportArea', 'ogr2ogrImport'].map((task) =>
        readJobs(ref, task, { status: 'success', limit: 20 }, signal),
      ),
    )
    return pages.flatMap(({ data }) => data)
  })
  const tables = (jobs.value ?? []).flatMap(({ result }) => {
    const several = result?.['tables']
    if (Array.isArray(several)) return several.map(({ name }: { name: string }) => name)
    const one = result?.['table']
    return typeof one === 'string' ? [one.split('.').at(-1) ?? one] : []
  })
  return { table: [...new Set(tables)] }
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
