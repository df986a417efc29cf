#!/usr/bin/env node
import { runCommandLine } from './cli/command-line.ts'

const code = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  print: (line) => console.log(line),
  printError: (line) => console.error(line),
})
// A host that `serve` has started continues to run and sets its own exit code.
if (code !== 0) process.exitCode = code
