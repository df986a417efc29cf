import { fileSource, openOsm, type OsmReader } from '@terrane/osm'
import { buildNetworkFile } from '@terrane/routing'
import { Worker } from 'node:worker_threads'
import type { BuildMessage, BuildTask } from './build.ts'
import type { WatchedBuild } from './build-watch.worker.ts'

// Builds one graph in a process of its own: the gigabytes that takes go back to the system, and whatever goes wrong in
// here leaves the server serving.
process.on('disconnect', () => process.exit(1))
process.once('message', (task: BuildTask) => {
  // A build computes for minutes without looking at messages: a thread of its own sees that the router is gone.
  const workerData = { router: process.ppid, draft: task.draft } satisfies WatchedBuild
  new Worker(new URL('./build-watch.worker.ts', import.meta.url), { workerData }).unref()
  run(task).then(
    () => process.exit(0),
    (error: unknown) => {
      process.send!({ type: 'failed', reason: messageOf(error) } satisfies BuildMessage, () => process.exit(1))
    },
  )
})

async function run({ extracts, choices: { drivingSide, construction }, inputs, output }: BuildTask): Promise<void> {
  const readers = await Promise.all(extracts.map(openNamed))
  await buildNetworkFile(readers, output, {
    ...(drivingSide !== 'country' && { drivingSide }),
    construction,
    inputs,
    onProgress: ({ phase, message }) => {
      process.send!({ type: 'progress', phase, message: message ?? null } satisfies BuildMessage)
    },
  })
}

/** A reader whose errors begin with the name of its extract: of several, one has to know which. */
async function openNamed({ name, path }: BuildTask['extracts'][number]): Promise<OsmReader> {
  const named = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work
    } catch (cause) {
      throw new Error(`${name}: ${messageOf(cause)}`, { cause })
    }
  }
  const reader = await named(fileSource(path).then((source) => openOsm(source)))
  return {
    source: reader.source,
    header: (signal) => named(reader.header(signal)),
    estimateNodes: (signal) => named(reader.estimateNodes(signal)),
    read: (visit, options) => named(reader.read(visit, options)),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
