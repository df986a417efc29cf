import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Button, Empty, Loading, Name, ProblemNotice, ProgressBar } from '../../components/basics.tsx'
import { Select } from '../../components/form.tsx'
import { Icon } from '../../components/icon.tsx'
import { session, toProblem, type Problem } from '../../lib/api.ts'
import { formatAgo, formatDateTime, formatDuration } from '../../lib/format.ts'
import { JobFeed } from '../../lib/job-feed.ts'
import { jobSeconds, jobSubject, readJobs, type Job } from '../../lib/jobs.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate, usePlace } from '../../lib/router.tsx'
import { TASKS, taskLabel } from '../../lib/tasks.ts'
import { useInterval } from '../../lib/use-resource.ts'
import { JobBadge } from './job-badge.tsx'
import { TaskSelect } from './task-select.tsx'

const PAGE = 25
/** Refresh interval while jobs are running. */
const BUSY_MS = 3000
const CALM_MS = 15_000

const STATES = [
  ['', 'Any state'],
  ['pending', 'Queued'],
  ['running', 'Running'],
  ['success', 'Done'],
  ['failed', 'Failed or cancelled'],
] as const

/** All jobs of the project, newest first. */
export function JobsPage({ project }: { project: Project }): JSX.Element {
  const { path, query } = usePlace()
  const task = query.get('task') ?? ''
  const status = query.get('status') ?? ''
  const filter = (name: string, value: string) => {
    if (value) query.set(name, value)
    else query.delete(name)
    navigate(query.size > 0 ? `${path}?${query.toString()}` : path, { replace: true })
  }
  const { jobs, problem, more, loadMore, refresh } = useJobs(project.ref, task, status)
  const busy = jobs?.some((job) => !job.terminal) ?? false
  useInterval(busy ? BUSY_MS : CALM_MS, refresh)
  return (
    <div class="page">
      <Head projectRef={project.ref} />
      <div class="filters">
        <TaskSelect class="select" task={task} onTask={(next) => filter('task', next)} />
        <Select aria-label="State" value={status} options={STATES} onChoose={(next) => filter('status', next)} />
      </div>
      {problem && <ProblemNotice problem={problem} onRetry={refresh} />}
      {!jobs && !problem && <Loading what="Loading jobs" />}
      {jobs?.length === 0 && (
        <div class="card">
          {task || status ? (
            <Empty icon="jobs" title="No job fits these filters">
              <Link href={path}>Show all jobs</Link>
            </Empty>
          ) : (
            <Empty icon="jobs" title="No job yet">
              Jobs import data, embed imagery and write files. Drop a file on the page, or{' '}
              <Link href={`/p/${project.ref}/new`}>start a job</Link>.
            </Empty>
          )}
        </div>
      )}
      {jobs && jobs.length > 0 && (
        <div class="card scroll-x">
          <JobTable jobs={jobs} projectRef={project.ref} />
        </div>
      )}
      {more && <Button onClick={loadMore}>Show older jobs</Button>}
    </div>
  )
}

function Head({ projectRef }: { projectRef: string }): JSX.Element {
  return (
    <div class="page-head">
      <h1>Jobs</h1>
      <div class="actions">
        <Link class="button" href={`/p/${projectRef}/schedules`}>
          Schedules
        </Link>
        <Link class="button" href={`/p/${projectRef}/webhooks`}>
          Webhooks
        </Link>
        <Link class="button primary" href={`/p/${projectRef}/new`}>
          <Icon name="plus" />
          New job
        </Link>
      </div>
    </div>
  )
}

function JobTable({ jobs, projectRef }: { jobs: readonly Job[]; projectRef: string }): JSX.Element {
  return (
    <table class="table cards jobs">
      <thead>
        <tr>
          <th>Job</th>
          <th>Task</th>
          <th>State</th>
          <th>Submitted</th>
          <th class="num">Duration</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <JobRow key={job.job_id} job={job} projectRef={projectRef} />
        ))}
      </tbody>
    </table>
  )
}

function JobRow({ job, projectRef }: { job: Job; projectRef: string }): JSX.Element {
  const seconds = jobSeconds(job)
  const { progress } = job
  return (
    <tr>
      <td class="what">
        <Link href={`/p/${projectRef}/jobs/${job.taskName}/${job.job_id}`}>
          <Name text={jobSubject(job)} />
        </Link>
      </td>
      <td class="dim">{taskLabel(job.taskName)}</td>
      <td class="state">
        <JobBadge job={job} />
        {job.status === 'running' && (
          <>
            <span class="small dim"> {progress?.message}</span>
            <ProgressBar percent={progress?.percent ?? null} label={`Progress of ${jobSubject(job)}`} />
          </>
        )}
        {job.status === 'failed' && job.error && job.error.code !== 'cancelled' && (
          <div class="small dim truncate" title={job.error.message}>
            {job.error.message}
          </div>
        )}
      </td>
      <td class="dim">
        <time dateTime={job.created_at} title={formatDateTime(job.created_at)}>
          {formatAgo(job.created_at)}
        </time>
      </td>
      <td class="num dim">{seconds === null ? '–' : formatDuration(seconds)}</td>
    </tr>
  )
}

/** The list as last shown, so that returning to it restores its length and scroll position. */
let left: { readonly key: string; readonly jobs: readonly Job[]; readonly more: boolean } | null = null
session.subscribe(() => (left = null))

/** The jobs that match the filters; a refresh reads as many as are shown. */
function useJobs(ref: string, task: string, status: string) {
  const key = [ref, task, status].join(' ')
  const known = left?.key === key ? left : null
  const [jobs, setJobs] = useState<readonly Job[] | null>(known?.jobs ?? null)
  const [problem, setProblem] = useState<Problem | null>(null)
  const [more, setMore] = useState(known?.more ?? false)
  const feed = useRef<JobFeed | null>(null)
  const reading = useRef(false)
  const shown = useRef(PAGE)

  const read = async (from: JobFeed, count: number, keep: boolean) => {
    feed.current = from
    reading.current = true
    try {
      const found = await from.next(count)
      if (feed.current !== from) return
      const all = keep ? [...(left?.jobs ?? []), ...found] : found
      left = { key, jobs: all, more: from.hasMore }
      setJobs(all)
      setMore(from.hasMore)
      setProblem(null)
    } catch (error) {
      if (feed.current === from) setProblem(toProblem(error))
    } finally {
      if (feed.current === from) reading.current = false
    }
  }
  const refresh = () => {
    const fresh = new JobFeed(task ? [task] : TASKS, (name, cursor) =>
      readJobs(ref, name, { status, cursor, limit: PAGE }),
    )
    void read(fresh, shown.current, false)
  }
  const loadMore = () => {
    if (!feed.current) return
    shown.current += PAGE
    if (reading.current) refresh()
    else void read(feed.current, PAGE, true)
  }
  useEffect(() => {
    shown.current = Math.max(PAGE, known?.jobs.length ?? 0)
    setJobs(known?.jobs ?? null)
    refresh()
    return () => {
      feed.current = null
    }
  }, [ref, task, status])
  return { jobs, problem, more, loadMore, refresh }
}
