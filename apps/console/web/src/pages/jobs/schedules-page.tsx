import type { JSX } from 'preact'
import { Button, Empty, Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatAgo, formatDateTime, formatNumber } from '../../lib/format.ts'
import type { Project } from '../../lib/project.ts'
import { Link } from '../../lib/router.tsx'
import { deleteSchedule, pauseSchedule, readSchedules, type Schedule } from '../../lib/schedules.ts'
import { taskLabel } from '../../lib/tasks.ts'
import { useAction } from '../../lib/use-action.ts'
import { useInterval, useResource } from '../../lib/use-resource.ts'
import { Crumbs } from './crumbs.tsx'

const LOOK_MS = 15_000

/** The schedules of the project, with the next run and the result of the last run. */
export function SchedulesPage({ project }: { project: Project }): JSX.Element {
  const schedules = useResource(`schedules ${project.ref}`, (signal) => readSchedules(project.ref, signal))
  const { problem: refused, run } = useAction()
  useInterval(LOOK_MS, schedules.reload)
  const act = (work: Promise<unknown>) => void run(() => work).finally(schedules.reload)
  return (
    <div class="page">
      <Crumbs projectRef={project.ref} />
      <div class="page-head">
        <h1>Schedules</h1>
      </div>
      {refused && <ProblemNotice problem={refused} />}
      {schedules.problem && <ProblemNotice problem={schedules.problem} onRetry={schedules.reload} />}
      {!schedules.value && !schedules.problem && <Loading what="Loading schedules" />}
      {schedules.value?.length === 0 && (
        <div class="card">
          <Empty icon="jobs" title="No schedule yet">
            Fill in <Link href={`/p/${project.ref}/new`}>the form of a job</Link> and choose “Run it regularly”.
          </Empty>
        </div>
      )}
      {schedules.value && schedules.value.length > 0 && (
        <div class="card scroll-x">
          <table class="table cards">
            <thead>
              <tr>
                <th>Schedule</th>
                <th>Task</th>
                <th>When</th>
                <th>Next</th>
                <th>Last</th>
                <th aria-label="Actions" />
              </tr>
            </thead>
            <tbody>
              {schedules.value.map((schedule) => (
                <ScheduleRow key={schedule.id} projectRef={project.ref} schedule={schedule} act={act} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </div>
  )
}

function ScheduleRow(props: {
  projectRef: string
  schedule: Schedule
  act: (work: Promise<unknown>) => void
}): JSX.Element {
  const { projectRef, schedule, act } = props
  const { name, taskName, cron, timeZone, paused, skipped, next_run_at: next, last_run_at: last } = schedule
  const title = name || taskLabel(taskName)
  return (
    <tr>
      <td class="what">
        {title}
        {skipped > 0 && (
          <div class="small dim">
            {formatNumber(skipped)} {skipped === 1 ? 'time' : 'times'} skipped, the last{' '}
            {schedule.last_skipped_at && formatAgo(schedule.last_skipped_at)}: the previous job was still running
          </div>
        )}
      </td>
      <td class="dim">{taskLabel(taskName)}</td>
      <td class="dim">
        <code>{cron}</code> {timeZone}
      </td>
      <td class="dim">{paused ? 'Paused' : next ? <time dateTime={next}>{formatDateTime(next)}</time> : 'Never'}</td>
      <td class="dim">
        {last && schedule.last_job_id ? (
          <Link href={`/p/${projectRef}/jobs/${taskName}/${schedule.last_job_id}`}>{formatAgo(last)}</Link>
        ) : (
          '–'
        )}
      </td>
      <td class="num">
        <Button
          kind="small"
          aria-label={`${paused ? 'Resume' : 'Pause'} ${title}`}
          onClick={() => act(pauseSchedule(projectRef, schedule, !paused))}
        >
          {paused ? 'Resume' : 'Pause'}
        </Button>{' '}
        <Button
          kind="small danger"
          aria-label={`Delete ${title}`}
          onClick={() => confirm(`Delete the schedule “${title}”?`) && act(deleteSchedule(projectRef, schedule))}
        >
          Delete
        </Button>
      </td>
    </tr>
  )
}
