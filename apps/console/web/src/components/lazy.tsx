import type { ComponentType, JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { toProblem, type Problem } from '../lib/api.ts'
import { Loading, ProblemNotice } from './basics.tsx'

/** A component whose code is fetched when it is first shown. */
export function lazyComponent<P extends object>(load: () => Promise<ComponentType<P>>): (props: P) => JSX.Element {
  let loaded: ComponentType<P> | null = null
  return (props) => {
    const [Component, setComponent] = useState<ComponentType<P> | null>(() => loaded)
    const [problem, setProblem] = useState<Problem | null>(null)
    useEffect(() => {
      if (Component) return
      const show = async () => {
        loaded = await load()
        setComponent(() => loaded)
      }
      show().catch((error: unknown) => setProblem(toProblem(error)))
    }, [Component])
    if (problem) return <ProblemNotice problem={problem} />
    return Component ? <Component {...props} /> : <Loading />
  }
}
