import type { JSX } from 'preact'
import { Loading, ProblemNotice, Prose } from '../../components/basics.tsx'
import { Icon } from '../../components/icon.tsx'
import type { TaskDescription } from '../../forms/openapi.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { TASKS, taskLabel } from '../../lib/tasks.ts'
import { useTasks } from '../../lib/worker.ts'
import { Crumbs } from './crumbs.tsx'

/** Which task to start. */
export function TasksPage({ project }: { project: Project }): JSX.Element {
  const tasks = useTasks(project.ref)
  return (
    <div class="page">
      <div>
        <Crumbs projectRef={project.ref} />
        <h1>New job</h1>
      </div>
      {tasks.problem && <ProblemNotice problem={tasks.problem} onRetry={tasks.reload} />}
      {!tasks.value && !tasks.problem && <Loading what="Asking the worker" />}
      <div class="task-grid">
        {tasks.value?.map((task) => (
          <TaskCard key={task.name} task={task} projectRef={project.ref} />
        ))}
      </div>
    </div>
  )
}

function TaskCard({ task, projectRef }: { task: TaskDescription; projectRef: string }): JSX.Element {
  const inside = (
    <>
      <span class="name">
        <Icon name={TASKS[task.name] ?? 'jobs'} size={18} />
        {taskLabel(task.name)}
      </span>
      <code class="small faint">{task.name}</code>
      <span class="dim small">{task.body ? <Prose text={task.description} /> : 'This worker does not offer it.'}</span>
    </>
  )
  if (!task.body) return <div class="card task-card off">{inside}</div>
  return (
    <Link class="card task-card" href={`/p/${projectRef}/new/${task.name}`}>
      {inside}
    </Link>
  )
}
