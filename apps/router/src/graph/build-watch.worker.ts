import { rmSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

/** A build and its router. */
export interface WatchedBuild {
  /** Process id of the router. */
  readonly router: number
  /** Folder to remove when the router has ended. */
  readonly draft: string
}

/** Interval of the check for the router, in milliseconds. */
const LOOK_MS = 500

// Ends the build and removes its draft when the parent process id changes, even while the main thread computes.
const { router, draft } = workerData as WatchedBuild
setInterval(() => {
  if (process.ppid === router) return
  rmSync(draft, { recursive: true, force: true })
  process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)
