import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'

// Runs the benches whose path contains the filter, one after the other: `pnpm bench decode`.
const filter = process.argv[2] ?? ''
const files = globSync('{packages,apps,infra}/*/bench/*.bench.ts').filter((path) => path.includes(filter))
if (files.length === 0) throw new Error(`no bench has '${filter}' in its path`)
for (const file of files.toSorted()) {
  process.stdout.write(`\n== ${file}\n`)
  const code = await new Promise<number | null>((resolve) => {
    spawn(process.execPath, ['--expose-gc', file], { stdio: 'inherit' }).on('exit', resolve)
  })
  if (code !== 0) process.exitCode = 1
}
