import { useState } from 'preact/hooks'
import { toProblem, type Problem } from './api.ts'

/** What a person does on a page: whether it is under way, and why it was refused. */
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
