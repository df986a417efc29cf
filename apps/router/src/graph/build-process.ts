import { Worker } from 'node:worker_threads'
import type { BuildMessage, BuildTask } from './build.ts'
import { buildGraphFile, messageOf } from './build-graph-file.ts'
import type { WatchedBuild } from './build-watch.worker.ts'

// Builds one graph in a process of its own: the gigabytes that takes go back to the system, and whatever goes wrong in
// here leaves the server serving.
process.on('disconnect', () => process.exit(1))
process.once('message', (task: BuildTask) => {
  // A build computes for minutes without looking at messages: a thread of its own sees that the router is gone.
  const workerData = { router: process.ppid, draft: task.draft } satisfies WatchedBuild
  new Worker(new URL('./build-watch.worker.ts', import.meta.url), { workerData }).unref()
  buildGraphFile(task, onProgress).then(
    () => process.exit(0),
    (error: unknown) => {
      process.send!({ type: 'failed', reason: messageOf(error) } satisfies BuildMessage, () => process.exit(1))
    },
  )
})

function onProgress(phase: string, message: string | null): void {
  process.send!({ type: 'progress', phase, message } satisfies BuildMessage)
}
