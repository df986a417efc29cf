#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import type { CommandWords } from './completion.ts'

// The command line as npm has it. A shell asks at every Tab: its words are read from a file that the build made, and no
// command is loaded.
enableCompileCache?.()
const [command, dashes, ...typed] = process.argv.slice(2)
if (command === 'complete' && dashes === '--') {
  const words = readFileSync(new URL('completions.json', import.meta.url), 'utf8')
  const { complete } = await import('./completion.ts')
  complete(JSON.parse(words) as CommandWords[], typed)
} else {
  const [{ PUBLISHED }, { endWithReader }, { run }] = await Promise.all([
    import('./commands/published.ts'),
    import('./end-with-reader.ts'),
    import('./run.ts'),
  ])
  endWithReader()
  process.exitCode = await run(process.argv.slice(2), PUBLISHED)
}
