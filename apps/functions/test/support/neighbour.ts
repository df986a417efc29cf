import { setTimeout as sleep } from 'node:timers/promises'
import type { TestHost } from './host.ts'

/** Results of the calls to the neighbour of an attacker. */
export interface Report {
  readonly calls: number
  readonly errors: readonly string[]
  readonly worstMs: number
}

/** Calls the function `neighbour` in a loop until its report is requested. */
export function watchNeighbour(host: TestHost): () => Promise<Report> {
  const errors: string[] = []
  let calls = 0
  let worstMs = 0
  const stop = new AbortController()
  const done = (async () => {
    while (!stop.signal.aborted) {
      const begun = performance.now()
      try {
        const response = await fetch(host.url('neighbour'))
        const text = await response.text()
        if (response.status !== 200 || text !== 'fine') errors.push(`${response.status} ${text}`)
      } catch (error) {
        errors.push(String(error))
      }
      calls++
      worstMs = Math.max(worstMs, performance.now() - begun)
      await sleep(20)
    }
  })()
  return async () => {
    stop.abort()
    await done
    return { calls, errors, worstMs }
  }
}
