#!/usr/bin/env node
import { readFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import type { CommandWords } from './completion.ts'

// The command line of the npm package. A shell runs it at every Tab, so it reads the words from a file of the build.
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
