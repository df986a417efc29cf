// Checks whether tests notice changes. It makes small random changes in the sources, one at a time, and runs everyday
// tests until one fails: the nearest tests that import the file, then all others of its package, then those of other
// packages (`--distant 12`: the nearest twelve of them). `--from 8` continues with the eighth. It changes its working
// tree and restores it, so run it in a clone.
//
// `node infra/tests/src/mutate.ts --count 100 --seed 1 --in packages/osm`
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { seededRandom } from '@terrane/core'
import { testsThatImport } from './importers.ts'
import { allMutations, type Mutation } from './mutations.ts'
import { ROOT, filesOf, folderOf } from './tiers.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    in: { type: 'string', default: '' },
    distant: { type: 'string', default: '1000' },
    from: { type: 'string', default: '1' },
  },
})
/** A longer run counts as hanging, and therefore as noticed. */
const LIMIT_MS = 900_000
/** Number of nearest files that run first, because they notice most changes. */
const NEAREST = 4

const random = seededRandom(Number(values.seed))
const drawn = allMutations()
  .filter(({ file }) => file.startsWith(values.in))
  .map((mutation) => ({ mutation, order: random() }))
  .toSorted((a, b) => a.order - b.order)
  .slice(0, Number(values.count))
  .map(({ mutation }) => mutation)

let survived = 0
for (const [index, mutation] of [...drawn.entries()].slice(Number(values.from) - 1)) {
  const by = await findNoticing(mutation)
  if (by === null) survived++
  const { file, line, before, after } = mutation
  console.log(
    `${index + 1} ${file}:${line} ${JSON.stringify(before.slice(0, 60))} -> ${JSON.stringify(after.slice(0, 60))}: ${by ?? 'SURVIVED'}`,
  )
}
const tried = drawn.length - Number(values.from) + 1
console.log(`${tried - survived} of ${tried} noticed`)

/** The tests that noticed a change; null when none did. */
async function findNoticing(mutation: Mutation): Promise<string | null> {
  const path = join(ROOT, mutation.file)
  const source = readFileSync(path, 'utf8')
  const restore = () => writeFileSync(path, source)
  process.once('exit', restore)
  writeFileSync(path, source.slice(0, mutation.start) + mutation.after + source.slice(mutation.end))
  try {
    const own = folderOf(mutation.file)
    const importing = testsThatImport(mutation.file)
    const nearest = importing.slice(0, NEAREST)
    const others = filesOf(own, 'everyday').filter((file) => !nearest.includes(file))
    const distant = importing.slice(NEAREST).filter((file) => !others.includes(file))
    for (const files of [nearest, others, distant.slice(0, Number(values.distant))]) {
      const failed = await failedOf(files)
      if (failed !== null) return failed
    }
    return null
  } finally {
    restore()
    process.off('exit', restore)
  }
}

/** The first failed test of some files with its message; null when all pass. */
async function failedOf(files: readonly string[]): Promise<string | null> {
  if (files.length === 0) return null
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [vitest, 'run', '--bail=1', '--reporter=verbose', ...files]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'pipe'], detached: true })
  const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), LIMIT_MS)
  const [output, errors, code] = await Promise.all([text(child.stdout), text(child.stderr), exitOf(child)])
  clearTimeout(timer)
  if (code === 0) return null
  const lines = stripVTControlCharacters(output + errors)
    .split('\n')
    .map((line) => line.trim())
  const failed = lines.find((line) => line.startsWith('FAIL ')) ?? 'a run that did not end or start'
  const message = lines.find((line) => /^[A-Za-z]*Error\b/.test(line)) ?? ''
  return `${failed} ${message.slice(0, 100)}`
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  const [code] = (await once(child, 'exit')) as [number | null]
  return code
}
