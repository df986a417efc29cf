import type { JSX } from 'preact'
import { ProblemNotice } from '../../components/basics.tsx'
import { formatClock, formatDateTime, formatNumber } from '../../lib/format.ts'
import type { Job } from '../../lib/jobs.ts'
import type { Project } from '../../lib/project.ts'
import { useJobLog } from './use-job-log.ts'

const LOOKS = { info: '', warning: 'warned', error: 'bad' } as const

/** Log of a job, line by line, updated while it runs. */
export function JobLog({ project, job }: { project: Project; job: Job }): JSX.Element {
  const { lines, dropped, problem, reload } = useJobLog(project.ref, job)
  return (
    <section class="card">
      <header>
        <h2>Log</h2>
      </header>
      {problem && <ProblemNotice problem={problem} onRetry={reload} />}
      <ol class="timeline body" aria-live="polite">
        {lines.map(({ number, at, level, event, phase, message, code, request_id: request }) => (
          <li key={number} class={event === 'succeeded' ? 'good' : LOOKS[level]}>
            <time dateTime={at} title={formatDateTime(at)}>
              {formatClock(at)}
            </time>
            <span>
              {event === 'times' ? `Times: ${message}` : message}
              {phase && phase !== message && <code class="faint"> {phase}</code>}
              {code && <code class="faint"> {code}</code>}
              {request && <span class="small faint"> request {request}</span>}
            </span>
          </li>
        ))}
      </ol>
      {dropped > 0 && (
        <p class="body small dim">
          {formatNumber(dropped)} {dropped === 1 ? 'line was' : 'lines were'} left out, because the log of a job is
          limited.
        </p>
      )}
    </section>
  )
}
