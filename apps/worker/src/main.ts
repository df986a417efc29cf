import { openTracing, serve } from '@terrane/service'
import { buildApp } from './app.ts'
import { readConfig } from './config.ts'
import { openDeps } from './deps.ts'

const config = readConfig(process.env)
await using _tracing = await openTracing('worker', config)
await using deps = await openDeps(config)
await serve(await buildApp(deps), config, deps.logger, { work: (budgetMs) => deps.drain(budgetMs) })
