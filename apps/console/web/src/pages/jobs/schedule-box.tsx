import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, ProblemNotice } from '../../components/basics.tsx'
import { Line } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { navigate } from '../../lib/router.tsx'
import { makeSchedule } from '../../lib/schedules.ts'
import { useAction } from '../../lib/use-action.ts'

/** Schedules the request of the form beside it. `ready` checks whether the form is filled in. */
export function ScheduleBox(props: {
  projectRef: string
  task: string
  input: unknown
  ready: () => boolean
}): JSX.Element {
  const [name, setName] = useState('')
  const [cron, setCron] = useState('0 3 * * *')
  const [timeZone, setTimeZone] = useState(Intl.DateTimeFormat().resolvedOptions().timeZone)
  const { busy, problem, run } = useAction()
  const make = async () => {
    if (!props.ready()) return
    await run(async () => {
      await makeSchedule(props.projectRef, props.task, { name, cron, timeZone, input: props.input })
      navigate(`/p/${props.projectRef}/schedules`)
    })
  }
  const fields: readonly [string, string, (value: string) => void][] = [
    ['Name', name, setName],
    ['Minute, hour, day, month, weekday', cron, setCron],
    ['Time zone', timeZone, setTimeZone],
  ]
  return (
    <details>
      <summary>Run it regularly</summary>
      <div class="stack">
        {fields.map(([label, value, change]) => (
          <Line key={label} label={label} value={value} onValue={change} />
        ))}
        <p class="small dim">
          <code>{'{date}'}</code> and <code>{'{time}'}</code> in the request become the day and time of each run.
        </p>
        {problem && <ProblemNotice problem={problem} />}
        <Button disabled={busy} onClick={() => void make()}>
          <Icon name="plus" size={14} />
          Create the schedule
        </Button>
      </div>
    </details>
  )
}
