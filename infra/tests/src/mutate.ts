// Does a test notice? Makes small changes in the sources, drawn by a seed, one at a time, and runs the everyday tests that
// could notice until one fails: those beside the file first, then its package, then the packages that depend on it. It
// changes the working tree that it is in and puts it back: run it in a clone.
// `node infra/tests/src/mutate.ts --count 100 --seed 1 --in packages/osm`
import { spawn } from 'node:child_process'
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { seededRandom } from '@terrane/core'
import { workspacesOf } from './inputs.ts'
import { allMutations, type Mutation } from './mutations.ts'
import { ROOT, filesOf, folderOf } from './tiers.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    in: { type: 'string', default: '' },
  },
})
/** A run that takes longer hangs, and so is noticed. */
const LIMIT_MS = 600_000

const random = seededRandom(Number(values.seed))
const drawn = allMutations()
  .filter(({ file }) => file.startsWith(values.in))
  .map((mutation) => ({ mutation, order: random() }))
  .toSorted((a, b) => a.order - b.order)
  .slice(0, Number(values.count))
  .map(({ mutation }) => mutation)

let survived = 0
for (const [index, mutation] of drawn.entries()) {
  const by = await findNoticing(mutation)
  if (by === null) survived++
  const { file, line, before, after } = mutation
  console.log(
    `${index + 1} ${file}:${line} ${JSON.stringify(before.slice(0, 60))} -> ${JSON.stringify(after.slice(0, 60))}: ${by ?? 'SURVIVED'}`,
  )
}
console.log(`${drawn.length - survived} of ${drawn.length} noticed`)

/** The tests that noticed a change: `beside`, or a package; null when none did. */
async function findNoticing(mutation: Mutation): Promise<string | null> {
  const path = join(ROOT, mutation.file)
  const text = readFileSync(path, 'utf8')
  const restore = () => writeFileSync(path, text)
  process.once('exit', restore)
  writeFileSync(path, text.slice(0, mutation.start) + mutation.after + text.slice(mutation.end))
  try {
    const own = folderOf(mutation.file)
    const all = filesOf(own, 'everyday')
    const beside = all.filter((file) => dirname(file) === dirname(mutation.file))
    if (await isNoticed(beside)) return 'beside'
    if (await isNoticed(all.filter((file) => !beside.includes(file)))) return own
    for (const folder of dependents(own)) if (await isNoticed(filesOf(folder, 'everyday'))) return folder
    return null
  } finally {
    restore()
    process.off('exit', restore)
  }
}

function dependents(folder: string): string[] {
  const folders = globSync('{packages,apps,infra}/*/package.json', { cwd: ROOT }).map((path) => dirname(path))
  return folders.filter((other) => other !== folder && workspacesOf(other).includes(folder))
}

function isNoticed(files: readonly string[]): Promise<boolean> {
  if (files.length === 0) return Promise.resolve(false)
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [vitest, 'run', '--bail=1', '--reporter=dot', ...files]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'ignore', detached: true })
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), LIMIT_MS)
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => {
      clearTimeout(timer)
      resolve(code !== 0)
    })
  })
}
