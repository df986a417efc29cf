import type { JSX } from 'preact'
import { TASKS, taskLabel } from '../../lib/tasks.ts'

/** A choice of a task; an empty name means all tasks. */
export function TaskSelect(props: { class: string; task: string; onTask: (task: string) => void }): JSX.Element {
  return (
    <select
      class={props.class}
      aria-label="Task"
      value={props.task}
      onChange={(event) => props.onTask(event.currentTarget.value)}
    >
      <option value="">Every task</option>
      {TASKS.map((name) => (
        <option key={name} value={name}>
          {taskLabel(name)}
        </option>
      ))}
    </select>
  )
}
