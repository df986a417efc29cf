import type { JSX } from 'preact'
import { Loading, ProblemNotice, Prose } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import type { TaskDescription } from '../../forms/openapi.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { TASKS, TASK_GROUPS, taskFace, taskLabel, type TaskGroup } from '../../lib/tasks.ts'
import { useTasks } from '../../lib/worker.ts'
import { UploadBox } from '../data/upload-box.tsx'
import { Crumbs } from './crumbs.tsx'

/** Ways to add and process data: an uploaded file, or one of the tasks. */
export function TasksPage({ project }: { project: Project }): JSX.Element {
  const tasks = useTasks(project.ref)
  const groups = Object.entries(TASK_GROUPS) as [TaskGroup, string][]
  const inOrder = (tasks.value ?? []).toSorted((a, b) => placeOf(a.name) - placeOf(b.name))
  return (
    <div class="page">
      <div>
        <Crumbs projectRef={project.ref} />
        <h1>Add data or start a job</h1>
      </div>
      <UploadBox project={project} />
      {tasks.problem && <ProblemNotice problem={tasks.problem} onRetry={tasks.reload} />}
      {!tasks.value && !tasks.problem && <Loading what="Loading the tasks" />}
      {tasks.value &&
        groups.map(([group, title]) => (
          <section key={group} class="stack" aria-label={title}>
            <h2>{title}</h2>
            <div class="task-grid">
              {inOrder
                .filter(({ name }) => groupOf(name) === group)
                .map((task) => (
                  <TaskCard key={task.name} task={task} projectRef={project.ref} />
                ))}
            </div>
          </section>
        ))}
    </div>
  )
}

/** Unknown tasks are listed last. */
function groupOf(name: string): TaskGroup {
  return taskFace(name)?.group ?? 'publish'
}

function placeOf(name: string): number {
  const place = TASKS.indexOf(name)
  return place < 0 ? TASKS.length : place
}

function TaskCard({ task, projectRef }: { task: TaskDescription; projectRef: string }): JSX.Element {
  const face = taskFace(task.name)
  const inside = (
    <>
      <span class="name">
        <Icon name={face?.icon ?? 'jobs'} size={18} />
        {taskLabel(task.name)}
      </span>
      <span class="dim small">
        {task.body ? (face?.about ?? <Prose text={task.description} />) : 'This worker does not offer it.'}
      </span>
    </>
  )
  if (!task.body) return <div class="card task-card off">{inside}</div>
  return (
    <Link class="card task-card" href={`/p/${projectRef}/new/${task.name}`}>
      {inside}
    </Link>
  )
}
