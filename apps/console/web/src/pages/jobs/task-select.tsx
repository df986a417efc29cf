import type { JSX } from 'preact'
import { Select } from '../../components/form.tsx'
import { TASKS, taskLabel } from '../../lib/tasks.ts'

/** A choice of a task; an empty name means all tasks. */
export function TaskSelect(props: { class: string; task: string; onTask: (task: string) => void }): JSX.Element {
  return (
    <Select
      class={props.class}
      aria-label="Task"
      value={props.task}
      options={[['', 'Every task'], ...TASKS.map((name) => [name, taskLabel(name)] as const)]}
      onChoose={props.onTask}
    />
  )
}
