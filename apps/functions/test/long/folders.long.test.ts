import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { freePorts } from '@terrane/testing/ports'
import { isWholeRun, seedOfRun, shareOfRun } from '@terrane/testing/property'
import { expect, test } from 'vitest'
import { compileCache } from '@terrane/testing/compile-cache'
import { startApp } from '../support/app.ts'
import { FolderModel, meets } from '../support/folder-model.ts'

const CLI = fileURLToPath(new URL('../../src/cli.ts', import.meta.url))
/** Pause before each round's check, during which no files are touched. */
const STILLNESS_MS = 1000
/** For a run by hand: FOLDER_RUNS=10 tries 1,000 sequences, each 100 of a seed of their own. */
// oxlint-disable-next-line node/no-process-env -- A setting of this suite alone.
const RUNS = Number(process.env['FOLDER_RUNS'] ?? 1)
/** A third of the rounds, by the seed of the run, unless all are requested. */
const isWhole = isWholeRun() || RUNS > 1
const first = isWhole ? 1 : seedOfRun()
const runs = Array.from({ length: RUNS }, (_, i) => [
  { functions: 5, rounds: isWhole ? 75 : 25, seed: first + 2 * i },
  { functions: 200, rounds: isWhole ? 25 : 8, seed: first + 2 * i + 1 },
]).flat()

test.concurrent.for(runs)(
  '$rounds sequences among $functions functions, seed $seed: code and policy always become those on disk',
  async ({ functions, rounds, seed }, { expect: expectHere }) => {
    const root = await mkdtemp(join(tmpdir(), 'terrane-random-'))
    const model = new FolderModel(root, seed)
    for (let i = 0; i < functions; i++) await model.add(`start${i}`)
    let late = 0
    {
      await using app = await startApp({ TERRANE_FUNCTIONS_DIR: root }, true)
      for (const name of model.functions.keys())
        await expectHere.poll(() => meets(app.url(name))).toBe(model.expected(name))
      for (let round = 0; round < rounds; round++) {
        model.touched.clear()
        for (let act = 0; act < 4; act++) await model.act()
        await sleep(STILLNESS_MS)
        const met = await Promise.all(
          [...model.touched].map(async (name) => [name, await meets(app.url(name))] as const),
        )
        if (met.some(([name, answer]) => answer !== model.expected(name))) late++
        for (const name of model.touched)
          await expectHere
            .poll(() => meets(app.url(name)), { interval: 25, message: `seed ${seed}, round ${round}, ${name}` })
            .toBe(model.expected(name))
      }
      for (const name of model.functions.keys()) expectHere(await meets(app.url(name))).toBe(model.expected(name))
    }
    process.stdout.write(
      `seed ${seed}, ${functions} functions: ${rounds - late} of ${rounds} sequences were served ${STILLNESS_MS} ms after the last act\n`,
    )
    await rm(root, { recursive: true })
  },
)

test.each(shareOfRun('folders: functions of a host that starts', [200, 500], 1))(
  'a host of %i functions listens before they are built, serves a new one, and stops when it is asked to',
  async (count) => {
    const root = await mkdtemp(join(tmpdir(), 'terrane-many-'))
    const add = async (name: string) => {
      await mkdir(join(root, name))
      await writeFile(join(root, name, 'function.json'), '{"auth":"none","methods":["GET"]}')
      await writeFile(join(root, name, 'index.ts'), `export default () => new Response('${name}')`)
    }
    for (let i = 0; i < count; i++) await add(`fn${i}`)
    const [port] = await freePorts(1)
    const url = `http://127.0.0.1:${port}`
    const begun = performance.now()
    const child = spawn(process.execPath, [CLI, 'functions', 'serve', '--dir', root, '--port', String(port)], {
      // oxlint-disable-next-line node/no-process-env -- The programs that a profile needs are looked up on PATH.
      env: { ...compileCache, PATH: process.env['PATH'], LOG_LEVEL: 'silent', TERRANE_HOME: join(root, '.home') },
      stdio: 'ignore',
    })
    try {
      const listeningMs = await until(child, async () => (await fetch(`${url}/health/live`)).ok, begun)
      const earlyMs = await newFunction('early')
      await expect.poll(() => meets(`${url}/functions/v1/fn${count - 1}`)).toBe(`fn${count - 1}`)
      const laterMs = await newFunction('later')
      const stopping = performance.now()
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const [code] = (await exited) as [number | null]
      expect(code).toBe(0)
      process.stdout.write(
        `${count} functions: listens after ${listeningMs.toFixed(0)} ms; a new one answers after ${earlyMs.toFixed(0)} ms ` +
          `while they are built, ${laterMs.toFixed(0)} ms later; stopped in ${(performance.now() - stopping).toFixed(0)} ms\n`,
      )
    } finally {
      child.kill('SIGKILL')
      await rm(root, { recursive: true, force: true })
    }

    async function newFunction(name: string): Promise<number> {
      await add(name)
      return until(child, async () => (await meets(`${url}/functions/v1/${name}`)) === name, performance.now())
    }
  },
)

/** Milliseconds from `since` until the check holds. */
async function until(child: ChildProcess, check: () => Promise<boolean>, since: number): Promise<number> {
  while (!(await check().catch(() => false))) {
    expect(child.exitCode).toBeNull()
    await sleep(10)
  }
  return performance.now() - since
}
