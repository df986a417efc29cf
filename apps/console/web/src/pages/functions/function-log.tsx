import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { Loading, ProblemNotice } from '../../components/basics.tsx'
import { formatClock, formatDateTime } from '../../lib/format.ts'
import { readLog, type LogEntry } from '../../lib/functions.ts'
import type { Project } from '../../lib/project.ts'
import { useInterval, useResource } from '../../lib/use-resource.ts'

const EVERY_MS = 2500

/** Log of a function and its host, updated while it is visible. */
export function FunctionLog({ project, name }: { project: Project; name: string }): JSX.Element {
  const [search, setSearch] = useState('')
  const wanted = search.trim()
  const log = useResource(`log ${project.ref} ${name} ${wanted}`, (signal) =>
    readLog(project.ref, name, wanted, signal),
  )
  useInterval(log.problem ? null : EVERY_MS, log.reload)
  const list = useRef<HTMLOListElement>(null)
  const last = log.value?.at(-1)
  useEffect(() => {
    list.current?.scrollTo(0, list.current.scrollHeight)
  }, [last?.time, last?.message])
  return (
    <section class="card" aria-labelledby="log-title">
      <header>
        <h2 id="log-title">Log</h2>
        <span class="small dim">of one functions host</span>
        <input
          class="input fit"
          type="search"
          aria-label="Search the log"
          placeholder="Search the log"
          maxLength={200}
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
      </header>
      {log.problem && <ProblemNotice problem={log.problem} onRetry={log.reload} />}
      {!log.value && !log.problem && <Loading what="Reading the log" />}
      {log.value?.length === 0 && (
        <p class="body dim">{wanted === '' ? 'Nothing has been logged yet.' : 'No entry contains this text.'}</p>
      )}
      {log.value && log.value.length > 0 && (
        <ol ref={list} class="log" tabIndex={0} aria-label="Log entries">
          {log.value.map((entry, i) => (
            <Line key={`${entry.time} ${i}`} entry={entry} />
          ))}
        </ol>
      )}
    </section>
  )
}

function Line({ entry }: { entry: LogEntry }): JSX.Element {
  const { time, level, source, message, fields } = entry
  const more = Object.entries(fields ?? {})
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(' ')
  return (
    <li>
      <time class="faint" dateTime={time} title={formatDateTime(time)}>
        {formatClock(time)}
      </time>
      <span class={`level-${level}`}>{level}</span>
      <span class="text">
        {source === 'host' && <span class="faint">host: </span>}
        {message}
        {more && <span class="faint"> {more}</span>}
      </span>
    </li>
  )
}
