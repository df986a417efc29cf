import { createLogger } from '@terrane/service'
import { readConfig } from './config.ts'
import { buildInProcess } from './graph/build.ts'
import { configuredKeeper } from './graph/configured-keeper.ts'
import type { Outcome } from './graph/keeper.ts'

// Builds the graph file that other routers serve, unless it is current; ends with 0 when it is current, else 1.
const config = readConfig(process.env)
const { promise, resolve } = Promise.withResolvers<Outcome>()
await using keeper = configuredKeeper(config, {
  build: buildInProcess,
  watchMs: 0,
  logger: createLogger({ name: 'routing-graph', level: config.LOG_LEVEL }),
  serve: async () => {},
  onOutcome: resolve,
})
await keeper.start()
process.exitCode = (await promise) === 'failed' ? 1 : 0
