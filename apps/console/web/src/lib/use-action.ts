import { useState } from 'preact/hooks'
import { toProblem, type Problem } from './api.ts'

/** State of an action on a page: whether it is running, and why it failed. */
export interface Action {
  readonly busy: boolean
  readonly problem: Problem | null
  /** Does it; a failure becomes the problem, until it is done again. */
  readonly run: (work: () => Promise<unknown>) => Promise<void>
  /** Forgets the problem. */
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
