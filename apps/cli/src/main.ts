#!/usr/bin/env node
import { COMMANDS } from './commands/all.ts'
import { run } from './run.ts'

process.exitCode = await run(process.argv.slice(2), COMMANDS)
