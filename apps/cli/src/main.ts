#!/usr/bin/env node
import { COMMANDS } from './commands/all.ts'
import { run } from './run.ts'

// Who reads the output may have seen enough, as `head` has: that ends the command, and is no error.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    process.exit()
  })
}

process.exitCode = await run(process.argv.slice(2), COMMANDS)
