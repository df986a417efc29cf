import { Worker } from 'node:worker_threads'
import type { BuildMessage, BuildTask } from './build.ts'
import { buildGraphFile, messageOf } from './build-graph-file.ts'
import type { WatchedBuild } from './build-watch.worker.ts'

// Builds one graph in its own process, which returns its gigabytes and keeps failures from the server.
process.on('disconnect', () => process.exit(1))
process.once('message', (task: BuildTask) => {
  // The build does not process messages for minutes, so a separate thread checks that the router is alive.
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
