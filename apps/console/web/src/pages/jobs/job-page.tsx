import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { Button, Code, Loading, ProblemNotice, ProgressBar } from '../../components/basics.tsx'
import { Facts } from '../../components/facts.tsx'
import { Icon } from '../../components/icon.tsx'
import { Warnings } from '../../components/warnings.tsx'
import { formatDateTime, formatDuration, formatJson, formatNumber } from '../../lib/format.ts'
import { jobInputFacts } from '../../lib/job-input.ts'
import { cancelJob, jobSeconds, jobState, jobSubject, jobWarnings, retryJob, type Job } from '../../lib/jobs.ts'
import type { Project } from '../../lib/project.ts'
import { Link, navigate } from '../../lib/router.tsx'
import { taskLabel } from '../../lib/tasks.ts'
import { useAction, type Action } from '../../lib/use-action.ts'
import { useInterval } from '../../lib/use-resource.ts'
import { Crumbs } from './crumbs.tsx'
import { JobBadge } from './job-badge.tsx'
import { JobLog } from './job-log.tsx'
import { JobResult } from './job-result.tsx'
import { useJob } from './use-job.ts'

/** One job: its progress, its result, and the actions on it. */
export function JobPage({ project, task, id }: { project: Project; task: string; id: string }): JSX.Element {
  const { job, problem, show } = useJob(project.ref, task, id)
  const { problem: refused, run } = useAction()
  if (problem) {
    return (
      <div class="page">
        <Crumbs projectRef={project.ref} />
        <ProblemNotice problem={problem} />
      </div>
    )
  }
  if (!job) return <Loading what="Loading the job" />
  return (
    <div class="page">
      <div class="job-head">
        <Crumbs projectRef={project.ref} />
        <div class="page-head">
          <h1>{jobSubject(job)}</h1>
          <JobBadge job={job} />
          <JobActions projectRef={project.ref} job={job} run={run} show={show} />
        </div>
        <Origin projectRef={project.ref} job={job} />
      </div>
      {refused && <ProblemNotice problem={refused} />}
      {!job.terminal && <JobProgress job={job} />}
      {job.error && <JobFailure job={job} />}
      <Warnings warnings={jobWarnings(job)} />
      <div class="columns">
        <div class="stack">
          {job.result && (
            <section class="card">
              <header>
                <h2>Result</h2>
              </header>
              <div class="body">
                <JobResult project={project} job={job} />
              </div>
            </section>
          )}
          <JobInput job={job} />
        </div>
        <div class="stack">
          <JobTimes job={job} />
          <JobLog project={project} job={job} />
        </div>
      </div>
    </div>
  )
}

function JobInput({ job }: { job: Job }): JSX.Element {
  return (
    <section class="card">
      <header>
        <h2>Input</h2>
      </header>
      <div class="body stack">
        <Facts class="break" rows={jobInputFacts(job.input)} />
        <details>
          <summary>As JSON</summary>
          <Code label="Input" text={formatJson(job.input)} />
        </details>
      </div>
    </section>
  )
}

function JobActions(props: {
  projectRef: string
  job: Job
  run: Action['run']
  show: (job: Job) => void
}): JSX.Element {
  const { projectRef, job, run, show } = props
  const cancel = async () => show(await cancelJob(projectRef, job))
  const retry = async () => {
    const next = await retryJob(projectRef, job)
    navigate(`/p/${projectRef}/jobs/${next.taskName}/${next.job_id}`)
  }
  return (
    <div class="actions">
      {!job.terminal && (
        <Button kind="danger" disabled={job.cancel_requested} onClick={() => void run(cancel)}>
          <Icon name="close" size={14} />
          {job.cancel_requested ? 'Stopping …' : 'Cancel'}
        </Button>
      )}
      {job.status === 'failed' && !job.parent_id && (
        <Button onClick={() => void run(retry)}>
          <Icon name="play" size={14} />
          Try again
        </Button>
      )}
      {job.terminal && (
        <Link class="button" href={`/p/${projectRef}/new/${job.taskName}?again=${job.job_id}`}>
          <Icon name="pencil" size={14} />
          Edit and run again
        </Link>
      )}
    </div>
  )
}

/** Task of a job, and the schedule or the job that it comes from. */
function Origin({ projectRef, job }: { projectRef: string; job: Job }): JSX.Element {
  const jobs = `/p/${projectRef}/jobs/${job.taskName}`
  return (
    <p class="dim">
      {taskLabel(job.taskName)}
      {job.schedule_id && (
        <>
          , by <Link href={`/p/${projectRef}/schedules`}>a schedule</Link>
        </>
      )}
      {job.parent_id && (
        <>
          , a part of <Link href={`${jobs}/${job.parent_id}`}>another job</Link>
        </>
      )}
      {job.retry_of && (
        <>
          , a retry of <Link href={`${jobs}/${job.retry_of}`}>an earlier job</Link>
        </>
      )}
    </p>
  )
}

function JobProgress({ job }: { job: Job }): JSX.Element {
  const { progress } = job
  const percent = job.status === 'running' ? (progress?.percent ?? null) : null
  const count =
    progress && progress.total !== null && progress.unit
      ? `${formatNumber(progress.done)} of ${formatNumber(progress.total)} ${progress.unit}`
      : progress && progress.done > 0
        ? `${formatNumber(progress.done)} ${progress.unit}`
        : ''
  const eta = progress?.eta_seconds == null ? '' : `about ${formatDuration(progress.eta_seconds)} left`
  return (
    <section class="card job-progress" aria-label="Progress">
      <div class="row">
        <span>
          {job.status === 'pending' ? 'Waiting for a worker' : (progress?.message ?? 'Starting')}
          {progress?.phase && progress.phase !== progress.message && <code class="faint"> {progress.phase}</code>}
        </span>
        <strong class="nums">{percent === null ? '' : `${percent.toFixed(0)} %`}</strong>
      </div>
      <ProgressBar percent={percent} label="Progress of the job" />
      <div class="row small dim nums">
        <span>{count}</span>
        <span>{eta}</span>
      </div>
    </section>
  )
}

function JobFailure({ job }: { job: Job }): JSX.Element {
  const { error } = job
  const cancelled = jobState(job) === 'cancelled'
  return (
    <div class={`notice ${cancelled ? 'warn' : 'error'}`} role={cancelled ? 'status' : 'alert'}>
      <Icon name="alert" />
      <div>
        <strong>{cancelled ? 'Cancelled' : error?.message}</strong>{' '}
        {!cancelled && <code class="faint">{error?.code}</code>}
        {error?.hint && <p class="hint">{error.hint}</p>}
        {error?.details && <p class="hint small">{error.details}</p>}
        {error?.retryable && !cancelled && <p class="hint">This may be temporary: try again.</p>}
      </div>
    </div>
  )
}

function JobTimes({ job }: { job: Job }): JSX.Element {
  const [now, setNow] = useState(Date.now())
  useInterval(job.terminal ? null : 1000, () => setNow(Date.now()))
  const seconds = jobSeconds(job, now)
  const rows: [string, string | JSX.Element][] = [
    ['Submitted', formatDateTime(job.created_at)],
    ['Started', job.started_at ? formatDateTime(job.started_at) : '–'],
    ['Ended', job.finished_at ? formatDateTime(job.finished_at) : '–'],
    ['Duration', seconds === null ? '–' : formatDuration(seconds)],
    ['Attempt', `${Math.max(1, job.attempt)} of ${job.max_attempts}`],
    ['Id', <code key="id">{job.job_id}</code>],
  ]
  return (
    <section class="card">
      <header>
        <h2>Job</h2>
      </header>
      <Facts class="body nums" rows={rows} />
    </section>
  )
}
