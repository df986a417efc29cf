import type { JobLog, JobLogLine } from '@terrane/contracts'
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { get, projectPath, toProblem, type Problem } from '../../lib/api.ts'
import type { Job } from '../../lib/jobs.ts'

/** The log of a job; new lines are read whenever its record changes. */
export function useJobLog(ref: string, job: Job) {
  const [log, setLog] = useState<{ lines: readonly JobLogLine[]; dropped: number }>({ lines: [], dropped: 0 })
  const [problem, setProblem] = useState<Problem | null>(null)
  const last = useRef(0)
  /** One read at a time; a change during a read causes another one. */
  const looks = useRef<Promise<void>>(Promise.resolve())
  const path = projectPath(ref, `/jobs/${encodeURIComponent(job.taskName)}/${job.job_id}/log`)

  const look = useCallback(async () => {
    for (let more = true; more;) {
      const page = await get<JobLog>(`${path}?after=${last.current}&limit=1000`)
      last.current = page.last
      more = page.more
      setLog((old) => ({ lines: [...old.lines, ...page.data], dropped: page.dropped }))
    }
    setProblem(null)
  }, [path])
  const reload = useCallback(() => {
    looks.current = looks.current.then(look).catch((error: unknown) => setProblem(toProblem(error)))
  }, [look])
  useEffect(reload, [reload, job])
  return { ...log, problem, reload }
}
