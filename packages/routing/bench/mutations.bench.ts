import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, relative } from 'node:path'
import { parseArgs } from 'node:util'
import { Worker } from 'node:worker_threads'

import { seededRandom } from '@terrane/core'

import { MODES } from '../src/index.ts'
import { writeNetworkFile } from '../src/network/file.ts'
import type { Trial } from '../test/fixtures/mutant-scenarios.worker.ts'
import { placeScenarios, scenarioNetwork } from '../test/support/scenario-town.ts'
import { EQUIVALENT, type Mutation, mutationsOf } from './support/mutations.ts'

// Mutation test of the constants of costs and turns: every number of `cost/` and of turns is changed, one at a time;
// with `--count` a random sample by seed. Each mutation runs the scenarios on an existing graph, then on a graph built
// with the mutation; if both pass, it runs the everyday tests of the package. A timeout counts as detected.
// `node mutations.bench.ts --count 150 --seed 1 --only profiles/truck`
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
/** Timeout of a check in seconds: several times its usual duration on a busy machine. */
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
const graph = join(folder, 'graph.bin')
const { pbf, asks } = placeScenarios()
await writeNetworkFile((await scenarioNetwork(pbf)).file, graph)

/** A thread that runs the scenarios with mutations; it is replaced when a mutation hangs. */
class ScenarioThread {
  #worker = this.#start()
  #tried = 0

  #start(): Worker {
    const worker = new Worker(new URL('../test/fixtures/mutant-scenarios.worker.ts', import.meta.url), {
      workerData: { asks, graph },
    })
    worker.on('error', () => undefined)
    return worker
  }

  async notices(mutation: Mutation): Promise<boolean> {
    // The thread never unloads the modules loaded for a mutation.
    if (++this.#tried % 50 === 0) await this.#replace()
    const worker = this.#worker
    const trial: Trial = {
      number: this.#tried,
      mutation,
      first: modesOf(mutation.file),
      onReadyGraph: mutation.file !== TURNS,
    }
    worker.postMessage(trial)
    const answer = await new Promise<boolean | null>((resolve) => {
      const limit = setTimeout(resolve, LIMITS.scenarios * 1000, null)
      const settle = (noticed: boolean | null): void => {
        clearTimeout(limit)
        worker.removeAllListeners('message').removeAllListeners('exit')
        resolve(noticed)
      }
      worker.once('message', settle).once('exit', () => settle(null))
    })
    if (answer === null) await this.#replace()
    return answer ?? true
  }

  async #replace(): Promise<void> {
    await this.close()
    this.#worker = this.#start()
  }

  async close(): Promise<void> {
    await this.#worker.terminate()
  }
}

/** Whether the everyday tests fail or time out with a mutation. */
function testsNotice(mutation: Mutation): Promise<boolean> {
  return new Promise((resolve) => {
    // oxlint-disable-next-line node/no-process-env -- passes on the environment of this bench
    const env = { ...process.env, TERRANE_MUTATION: JSON.stringify(mutation), NODE_OPTIONS: `--import ${HOOK}` }
    const tests = TESTS.map((test) => join(ROOT, test))
    const args = [VITEST, 'run', '--bail', '1', '--root', join(ROOT, '../..'), ...tests]
    const limit = { timeout: LIMITS.tests * 1000, killSignal: 'SIGKILL' as const }
    const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'ignore', env, ...limit })
    child.on('exit', (code) => resolve(code !== 0))
  })
}

/** Modes whose profile the file is; empty for other files. */
function modesOf(file: string): string[] {
  const name = basename(file, '.ts').replace('-', '_')
  return MODES.filter((mode) => mode === name)
}

const survivors: Mutation[] = []
let equivalent = 0
let done = 0
const queue = [...drawn]
await Promise.all(
  Array.from({ length: Number(values.threads) }, async () => {
    const scenarios = new ScenarioThread()
    for (let mutation = queue.shift(); mutation !== undefined; mutation = queue.shift()) {
      if (!(await scenarios.notices(mutation)) && !(await testsNotice(mutation))) {
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
    await scenarios.close()
  }),
)
rmSync(folder, { recursive: true })
const counted = drawn.length - equivalent
const score = 1 - survivors.length / counted
console.log(
  `${drawn.length} of ${all.length} constants changed, ${equivalent} of them to no effect; ${counted - survivors.length} of ${counted} noticed (${(100 * score).toFixed(1)} %)`,
)
assert(score >= 0.9)
