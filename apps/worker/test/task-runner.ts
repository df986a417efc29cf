import { readConfig } from '../src/config.ts'
import { openDeps } from '../src/deps.ts'

// A runner of the real tasks, to be killed.
// oxlint-disable-next-line node/no-process-env -- A process reads its own environment.
const config = readConfig({ ...process.env, TERRANE_WORKER_CONCURRENCY: '1', DRAIN_TIMEOUT_MS: '200' })
await using deps = await openDeps(config)
process.send?.('ready')
await new Promise<void>((resolve) => {
  process.once('SIGTERM', resolve)
  process.once('disconnect', resolve)
})
await deps.drain(config.DRAIN_TIMEOUT_MS)
process.disconnect()
