import type { JobError, JobLogEvent, JobLogLine, JobWarning } from '@terrane/contracts'
import type { Queryable } from '@terrane/database'
import { redactText } from '../projects/redact.ts'
import type { NewJob } from './job-row.ts'

/** A line that is to be written. */
export interface NewLine {
  readonly event: JobLogEvent
  readonly message: string
  /** `info` when absent. */
  readonly level?: JobLogLine['level']
  readonly phase?: string
  readonly code?: string
  readonly requestId?: string
  /** Age of the event, in milliseconds. */
  readonly ageMs?: number
}

/** The run that writes the lines. */
export interface WritingRun {
  readonly attempt: number
}

/** Maximum lines of one job; the last of them are reserved for lines that are not steps. */
const MOST_LINES = 1000
const MOST_STEPS = 900
/** Maximum bytes of a line's text. */
const MOST_BYTES = 1000

/**
 * Adds lines to the log of a job, in order. A line beyond the limit still takes a number, so that a reader sees that it
 * is missing.
 *
 * @param by the run that writes; nothing is written once it is no longer the current run
 */
export async function writeLines(
  database: Queryable,
  id: string,
  lines: readonly NewLine[],
  by: WritingRun | null = null,
): Promise<void> {
  if (lines.length === 0) return
  const values = lines.map(({ message, phase, ...line }) => ({
    ...line,
    message: cut(redactText(message)),
    phase: phase === undefined ? null : cut(phase),
  }))
  await database.query(
    `with head as (
       update terrane.jobs set log_lines = log_lines + jsonb_array_length($2::jsonb), revision = revision + 1
       where id = $1 and ($3::int is null or (status = 'running' and attempt = $3))
       returning id, attempt, log_lines - jsonb_array_length($2::jsonb) as before
     )
     insert into terrane.job_lines (job_id, number, at, level, event, attempt, phase, message, code, request_id)
     select head.id, head.before + l.i,
       -- In order, however long a write took: never before the line in front of it.
       greatest(
         max(clock_timestamp() - make_interval(secs => coalesce((line->>'ageMs')::float8, 0) / 1000)) over (order by l.i),
         (select max(at) from terrane.job_lines where job_id = $1)
       ),
       coalesce(line->>'level', 'info'), line->>'event', head.attempt, line->>'phase', line->>'message', line->>'code',
       line->>'requestId'
     from head, jsonb_array_elements($2::jsonb) with ordinality as l(line, i)
     where head.before + l.i <= ${MOST_STEPS} or (line->>'event' <> 'step'
       and (select count(*) from terrane.job_lines where job_id = $1) + jsonb_array_length($2::jsonb) <= ${MOST_LINES})`,
    [id, JSON.stringify(values), by?.attempt ?? null],
  )
}

/** Lines of a job whose number is larger than `after`, in order. */
export async function readLines(
  database: Queryable,
  id: string,
  options: { readonly after: number; readonly limit: number },
): Promise<{ lines: JobLogLine[]; more: boolean; dropped: number }> {
  const { rows } = await database.query<Omit<JobLogLine, 'at'> & { at: Date }>(
    `select number, at, level, event, attempt, phase, message, code, request_id from terrane.job_lines
     where job_id = $1 and number > $2 order by number limit $3`,
    [id, options.after, options.limit + 1],
  )
  const { rows: counts } = await database.query<{ dropped: number }>(
    `select log_lines - (select count(*) from terrane.job_lines where job_id = $1) as dropped from terrane.jobs where id = $1`,
    [id],
  )
  return {
    lines: rows.slice(0, options.limit).map((row) => ({ ...row, at: row.at.toISOString() })),
    more: rows.length > options.limit,
    dropped: Math.max(0, counts[0]?.dropped ?? 0),
  }
}

/** Line about the submission of a job. */
export function submittedLine({
  requestId,
  schedule,
  retryOf,
}: Pick<NewJob, 'requestId' | 'schedule' | 'retryOf'>): NewLine {
  const why = retryOf !== null ? `, another try of ${retryOf}` : ''
  const message = schedule === null ? `Submitted${why}` : `Submitted by its schedule for ${schedule.at.toISOString()}`
  return { event: 'submitted', message, ...(requestId !== null && { requestId }) }
}

/** The end of a job that has failed. */
export function endLine({ code, message, hint }: JobError): NewLine {
  const level = code === 'cancelled' ? 'info' : 'error'
  return { event: 'failed', level, code, message: hint === null ? message : `${message}. ${hint}` }
}

/** A warning of a result. */
export function warningLine({ code, message, count }: JobWarning): NewLine {
  return { event: 'warning', level: 'warning', code, message: count ? `${message} (${count})` : message }
}

/** A text cut to {@link MOST_BYTES} bytes. */
function cut(text: string): string {
  const bytes = Buffer.from(text.replaceAll('\0', ''))
  if (bytes.length <= MOST_BYTES) return bytes.toString()
  let kept = bytes.subarray(0, MOST_BYTES - 6).toString()
  // A character that was cut in half became U+FFFD.
  while (kept.endsWith('\uFFFD')) kept = kept.slice(0, -1)
  return `${kept} …`
}
