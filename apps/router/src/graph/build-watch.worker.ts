import { rmSync } from 'node:fs'
import { workerData } from 'node:worker_threads'

/** A build and whom it is for. */
export interface WatchedBuild {
  /** Process id of the router. */
  readonly router: number
  /** Folder to remove when the router has ended. */
  readonly draft: string
}

/** How often the router is looked for, in milliseconds. */
const LOOK_MS = 500

// Ends the building process when its router is gone, however that ended, and takes the draft along: an orphan gets another
// parent, whatever the main thread is computing.
const { router, draft } = workerData as WatchedBuild
setInterval(() => {
  if (process.ppid === router) return
  rmSync(draft, { recursive: true, force: true })
  process.kill(process.pid, 'SIGKILL')
}, LOOK_MS)
