import { useState } from 'preact/hooks'
import { toProblem, type Problem } from './api.ts'

/** State of an action on a page: whether it is running, and why it failed. */
export interface Action {
  readonly busy: boolean
  readonly problem: Problem | null
  /** Runs the action; a failure is kept as the problem until the next run. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
  /** Removes the problem. */
  readonly clear: () => void
}

/** An action of a page. */
export function useAction(): Action {
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<Problem | null>(null)
  const run = async (work: () => Promise<unknown>) => {
    setBusy(true)
    setProblem(null)
    try {
      await work()
    } catch (error) {
      setProblem(toProblem(error))
    } finally {
      setBusy(false)
    }
  }
  return { busy, problem, run, clear: () => setProblem(null) }
}
