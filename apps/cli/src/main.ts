#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Before anything else is loaded: later calls then find it compiled. Node below 22.8 has none.
enableCompileCache?.()
const [{ COMMANDS }, { endWithReader }, { run }] = await Promise.all([
  import('./commands/all.ts'),
  import('./end-with-reader.ts'),
  import('./run.ts'),
])
endWithReader()
process.exitCode = await run(process.argv.slice(2), COMMANDS)
