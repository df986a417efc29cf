import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'

import { seededRandom } from '@terrane/core'

import { MODES } from '../src/index.ts'
import { writeNetworkFile } from '../src/network/file.ts'
import { placeScenarios, scenarioNetwork } from '../test/support/scenario-town.ts'
import { EQUIVALENT, type Mutation, mutationsOf } from './support/mutations.ts'

// Does a test notice when a constant of costs and turns changes? Every number of `cost/` and of turns is changed, one at a
// time; with `--count` only some, drawn by a seed. What the scenarios say is looked at first, on a graph that was built
// before, then on one that is built with the change; what that does not notice is put before the everyday tests of the
// package. What runs into its time limit hangs, and so is noticed. `node mutations.bench.ts --count 150 --seed 1 --only profiles/truck`
const { values } = parseArgs({
  options: {
    count: { type: 'string' },
    seed: { type: 'string', default: '1' },
    threads: { type: 'string', default: '2' },
    only: { type: 'string', default: '' },
  },
})
const ROOT = join(import.meta.dirname, '..')
const COSTS = join(ROOT, 'src/cost')
const TURNS = join(ROOT, 'src/build/turns.ts')
const HOOK = join(ROOT, 'test/fixtures/mutant.ts')
const VITEST = join(ROOT, '../../node_modules/vitest/vitest.mjs')
const TESTS = [
  'src/cost',
  'test/turn-costs.test.ts',
  'test/limits.test.ts',
  'test/network.test.ts',
  'test/rules-of-the-road.test.ts',
  'test/router.test.ts',
  'test/time.test.ts',
  'test/places.test.ts',
  'test/decisive.test.ts',
  'test/speeds-in-time.test.ts',
]
/** Seconds that a check may take: several times what it takes without a change on a busy machine. */
const LIMITS = { scenarios: 90, tests: 240 }

const files = [
  ...readdirSync(COSTS, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .map((name) => join(COSTS, name)),
  TURNS,
].filter((file) => file.includes(values.only))
const all = mutationsOf(files)
const random = seededRandom(Number(values.seed))
const drawn = all
  .map((mutation) => ({ mutation, key: random() }))
  .toSorted((a, b) => a.key - b.key)
  .slice(0, Number(values.count ?? all.length))
  .map(({ mutation }) => mutation)

const folder = mkdtempSync(join(tmpdir(), 'terrane-mutations-'))
const asks = join(folder, 'asks.json')
const graph = join(folder, 'graph.bin')
const placed = placeScenarios()
writeFileSync(asks, JSON.stringify(placed.asks.map((ask) => ({ ...ask, places: [...ask.places] }))))
await writeNetworkFile((await scenarioNetwork(placed.pbf)).file, graph)

/** Whether a command fails, or takes too long, with a mutation in place. */
function fails(mutation: Mutation, args: readonly string[], seconds: number): Promise<boolean> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line node/no-process-env -- the rest of the environment is that of this bench
    const env = { ...process.env, TERRANE_MUTATION: JSON.stringify(mutation), NODE_OPTIONS: `--import ${HOOK}` }
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: 'ignore',
      env,
      timeout: seconds * 1000,
      killSignal: 'SIGKILL',
    })
    child.on('exit', (code) => resolve(code !== 0))
  })
}

/** Modes whose profile a file is, or all. */
function modesOf(file: string): string {
  const name = basename(file, '.ts').replace('-', '_')
  return MODES.filter((mode) => mode === name).join(',')
}

async function isNoticed(mutation: Mutation): Promise<boolean> {
  const { file } = mutation
  const check = [join(ROOT, 'test/fixtures/check-scenarios.ts'), asks, modesOf(file)]
  if (file !== TURNS && (await fails(mutation, [...check, graph], LIMITS.scenarios))) return true
  if (await fails(mutation, check, LIMITS.scenarios)) return true
  const tests = TESTS.map((test) => join(ROOT, test))
  return fails(mutation, [VITEST, 'run', '--bail', '1', '--root', join(ROOT, '../..'), ...tests], LIMITS.tests)
}

const survivors: Mutation[] = []
let equivalent = 0
let done = 0
const queue = [...drawn]
await Promise.all(
  Array.from({ length: Number(values.threads) }, async () => {
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      if (!(await isNoticed(mutation))) {
        const { file, line, text, before, after } = mutation
        const reason = EQUIVALENT.find(
          ({ in: place, what, number = before }) => file.endsWith(place) && text.includes(what) && before === number,
        )?.because
        if (reason === undefined) survivors.push(mutation)
        else equivalent++
        console.log(
          `${relative(ROOT, file)}:${line} ${before} → ${after}: ${text}${reason === undefined ? '' : ` — ${reason}`}`,
        )
      }
      if (++done % 50 === 0) console.log(`${done} of ${drawn.length}, ${survivors.length} unnoticed`)
    }
  }),
)
rmSync(folder, { recursive: true })
const counted = drawn.length - equivalent
const score = 1 - survivors.length / counted
console.log(
  `${drawn.length} of ${all.length} constants changed, ${equivalent} of them to no effect; ${counted - survivors.length} of ${counted} noticed (${(100 * score).toFixed(1)} %)`,
)
assert(score >= 0.9)
