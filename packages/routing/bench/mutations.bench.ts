import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { parseArgs } from 'node:util'

import { seededRandom } from '@terrane/core'

import { type Mutation, mutationsOf } from './support/mutations.ts'

// Does a test notice when a constant of costs and turns changes? Some numbers of `cost/` and of turns, drawn by a seed,
// are changed one at a time. First what the scenarios say is looked at, in a process of its own; what that does not
// notice is put before the everyday tests of the package. `node mutations.bench.ts --count 100 --seed 1`
const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '100' },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: '2' },
    'scenarios-only': { type: 'boolean', default: false },
  },
})
const ROOT = join(import.meta.dirname, '..')
const folder = join(ROOT, 'src/cost')
const files = [
  ...readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(folder, name)),
  join(ROOT, 'src/build/turns.ts'),
]
const all = mutationsOf(files)
const random = seededRandom(Number(values.seed))
const drawn = all
  .map((mutation) => ({ mutation, key: random() }))
  .toSorted((a, b) => a.key - b.key)
  .slice(0, Number(values.count))
  .map(({ mutation }) => mutation)

const HOOK = join(ROOT, 'test/fixtures/mutant.ts')
const TESTS = [
  'src/cost',
  'src/request',
  'test/turn-costs.test.ts',
  'test/rules-of-the-road.test.ts',
  'test/limits.test.ts',
]

/** Whether a command fails with a mutation in place. */
function fails(mutation: Mutation, args: readonly string[]): Promise<boolean> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line node/no-process-env -- the rest of the environment is that of this bench
    const env = { ...process.env, TERRANE_MUTATION: JSON.stringify(mutation), NODE_OPTIONS: `--import ${HOOK}` }
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'ignore', env })
    child.on('exit', (code) => resolve(code !== 0))
  })
}

const survivors: Mutation[] = []
let done = 0
const queue = [...drawn]
await Promise.all(
  Array.from({ length: Number(values.threads) }, async () => {
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      const vitest = join(ROOT, '../../node_modules/vitest/vitest.mjs')
      const killed =
        (await fails(mutation, [join(ROOT, 'test/fixtures/check-scenarios.ts')])) ||
        (!values['scenarios-only'] &&
          (await fails(mutation, [
            vitest,
            'run',
            '--root',
            join(ROOT, '../..'),
            ...TESTS.map((test) => join(ROOT, test)),
          ])))
      if (!killed) {
        survivors.push(mutation)
        console.log(`${relative(ROOT, mutation.file)}:${mutation.at} ${mutation.before} → ${mutation.after}`)
      }
      if (++done % 20 === 0) console.log(`${done} of ${drawn.length}, ${survivors.length} unnoticed`)
    }
  }),
)
const score = 1 - survivors.length / drawn.length
console.log(`${drawn.length} of ${all.length} constants changed, ${(100 * score).toFixed(1)} % noticed`)
assert(score >= 0.9)
