import { fileSource, openOsm } from '@terrane/osm'
import { buildNetwork, writeNetworkFile } from '@terrane/routing'
import type { BuildMessage, BuildTask } from './build.ts'

// Builds one graph in a process of its own: the gigabytes that takes go back to the system, and whatever goes wrong in
// here leaves the server serving.
process.on('disconnect', () => process.exit(1))
process.once('message', (task: BuildTask) => {
  run(task).then(
    () => process.exit(0),
    (error: unknown) => {
      const reason = error instanceof Error ? error.message : String(error)
      process.send!({ type: 'failed', reason } satisfies BuildMessage, () => process.exit(1))
    },
  )
})

async function run({ extracts, drivingSide, inputs, output }: BuildTask): Promise<void> {
  const readers = await Promise.all(extracts.map(async (path) => openOsm(await fileSource(path))))
  const network = await buildNetwork(readers, {
    drivingSide,
    inputs,
    onProgress: ({ phase, message }) => {
      process.send!({ type: 'progress', phase, message: message ?? null } satisfies BuildMessage)
    },
  })
  await writeNetworkFile(network.file, output)
}
