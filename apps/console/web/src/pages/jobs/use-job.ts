import { useEffect, useState } from 'preact/hooks'
import { projectPath, request, toProblem, type Problem } from '../../lib/api.ts'
import type { Job } from '../../lib/jobs.ts'

/** Something that happened to a job while one was looking. */
export interface Activity {
  readonly at: string
  readonly text: string
}

/** Most lines of activity that are kept. */
const MAX_ACTIVITY = 200
/** A stream that was refused is asked for again after this. */
const AGAIN_MS = 3000

/** A job as it goes: the worker's event stream, which the browser takes up again by itself when it is cut. */
export function useJob(ref: string, task: string, id: string) {
  const [job, setJob] = useState<Job | null>(null)
  const [activity, setActivity] = useState<readonly Activity[]>([])
  const [problem, setProblem] = useState<Problem | null>(null)
  const path = projectPath(ref, `/jobs/${encodeURIComponent(task)}/${encodeURIComponent(id)}`)

  const show = (next: Job) => {
    setJob(next)
    const text = next.progress?.message
    if (!text) return
    setActivity((old) =>
      old.at(-1)?.text === text ? old : [...old, { at: next.updated_at, text }].slice(-MAX_ACTIVITY),
    )
  }
  useEffect(() => {
    let events: EventSource | null = null
    let timer = 0
    const abort = new AbortController()
    const follow = () => {
      const stream = new EventSource(`${path}/events`)
      events = stream
      const onEvent = (event: MessageEvent<string>) => {
        const next = JSON.parse(event.data) as Job
        show(next)
        if (next.terminal) stream.close()
      }
      stream.addEventListener('status', onEvent)
      stream.addEventListener('progress', onEvent)
      // The browser takes a cut stream up again; one that was refused it leaves closed.
      stream.addEventListener('error', () => {
        if (stream.readyState === EventSource.CLOSED) timer = setTimeout(() => void read(), AGAIN_MS)
      })
    }
    const read = async () => {
      try {
        const found = await request<Job>('GET', path, undefined, abort.signal)
        setProblem(null)
        show(found)
        if (!found.terminal) follow()
      } catch (error) {
        if (abort.signal.aborted) return
        const seen = toProblem(error)
        setProblem(seen)
        if (seen.status !== 404) timer = setTimeout(() => void read(), AGAIN_MS)
      }
    }
    void read()
    return () => {
      abort.abort()
      clearTimeout(timer)
      events?.close()
    }
  }, [path])
  return { job, activity, problem, show }
}
