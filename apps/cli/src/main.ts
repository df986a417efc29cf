#!/usr/bin/env node
import { COMMANDS } from './commands/all.ts'
import { endWithReader } from './end-with-reader.ts'
import { run } from './run.ts'

endWithReader()
process.exitCode = await run(process.argv.slice(2), COMMANDS)
