import { useEffect, useState } from 'preact/hooks'
import { get, projectPath, toProblem, type Problem } from '../../lib/api.ts'
import type { Job } from '../../lib/jobs.ts'

/** Delay before a refused stream is requested again. */
const AGAIN_MS = 3000

/**
 * A job with live updates: the worker's event stream, which the browser reconnects by itself.
 *
 * @param known the job as it was when it was submitted; without it the job is read first
 */
export function useJob(ref: string, task: string, id: string, known: Job | null = null) {
  const [job, setJob] = useState<Job | null>(known)
  const [problem, setProblem] = useState<Problem | null>(null)
  const path = projectPath(ref, `/jobs/${encodeURIComponent(task)}/${encodeURIComponent(id)}`)

  useEffect(() => {
    let events: EventSource | null = null
    let timer = 0
    const abort = new AbortController()
    const follow = () => {
      const stream = new EventSource(`${path}/events`)
      events = stream
      const onEvent = (event: MessageEvent<string>) => {
        const next = JSON.parse(event.data) as Job
        setJob(next)
        if (next.terminal) stream.close()
      }
      stream.addEventListener('status', onEvent)
      stream.addEventListener('progress', onEvent)
      // The browser reconnects an interrupted stream, but not a refused one.
      stream.addEventListener('error', () => {
        if (stream.readyState === EventSource.CLOSED) timer = setTimeout(() => void read(), AGAIN_MS)
      })
    }
    const read = async () => {
      try {
        const found = await get<Job>(path, abort.signal)
        setProblem(null)
        setJob(found)
        if (!found.terminal) follow()
      } catch (error) {
        if (abort.signal.aborted) return
        const seen = toProblem(error)
        setProblem(seen)
        if (seen.status !== 404) timer = setTimeout(() => void read(), AGAIN_MS)
      }
    }
    if (known && !known.terminal) follow()
    else void read()
    return () => {
      abort.abort()
      clearTimeout(timer)
      events?.close()
    }
  }, [path])
  return { job, problem, show: setJob }
}
