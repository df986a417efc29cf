import { openTracing, serve } from '@terrane/service'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { openDeps } from './deps.ts'

const config = readConfig(process.env)
await using _tracing = await openTracing('functions', config)
await using deps = await openDeps(config, process.env)
await serve(await buildApp(deps), config, deps.logger, { requests: (budgetMs) => deps.drain(budgetMs) })
