#!/usr/bin/env node
import { enableCompileCache } from 'node:module'

// Called before other modules are loaded, so that they use compiled code. Node below 22.8 does not have it.
enableCompileCache?.()
const [command, dashes, ...typed] = process.argv.slice(2)
if (command === 'complete' && dashes === '--') {
  const { completeFromSources } = await import('./completion-cache.ts')
  await completeFromSources(typed)
} else {
  const [{ COMMANDS }, { endWithReader }, { run }] = await Promise.all([
    import('./commands/all.ts'),
    import('./end-with-reader.ts'),
    import('./run.ts'),
  ])
  endWithReader()
  process.exitCode = await run(process.argv.slice(2), COMMANDS)
}
