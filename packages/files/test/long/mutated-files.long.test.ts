// Slow: reads thousands of broken files.
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { seededRandom } from '@terrane/core'
import { TerraneError } from '@terrane/core/errors'
import { removeFormats } from '@terrane/testing/files'
import { seedOfRun } from '@terrane/testing/property'
import { afterAll, describe, expect, test } from 'vitest'
import { openFile, readerProcesses } from '../../src/index.ts'
import { ProcessWatch } from '../../src/read/process-watch.ts'
import { mutated } from '../mutations/mutate.ts'
import { originals, type Original } from '../mutations/originals.ts'
import type { Outcome, Task } from '../mutations/read-mutated.ts'

// oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
const isFull = process.env['TERRANE_TEST_ALL_FAULTS'] === '1'
const FILES = isFull ? 2000 : 80
const PROGRAM = fileURLToPath(new URL('../mutations/read-mutated.ts', import.meta.url))
/** CPU time without an answer after which a file is read again in a confined process, as in production. */
const SUSPECT_SECONDS = 10
const HEAP_MB = 768
/** Seed of a change that makes hyparquet go around for ever. */
const HANGING_PARQUET = 1_000_325
/** Seeds of changes that name ranges outside of the file, so that reading them is refused beside the decoding. */
const OUTSIDE_PARQUET = [1_000_278, 1_000_371]
/** Codes that a caller may get. */
const CODES = new Set([
  'READ',
  'EMPTY',
  'FORMAT_UNKNOWN',
  'ZIP_REFUSED',
  'FILE_TOO_COSTLY',
  'CONVERSION_FAILED',
  'SOURCE_SRS_NEEDED',
  'ENCODING_UNKNOWN',
])
/** Places of this machine, and what only the code knows. */
const OWN =
  /terrane-|node_modules|\/tmp\/|\/home\/|\/packages\/|\.ts\b|is not a function|Cannot read prop|undefined \(|\[object|\bERR_[A-Z]|Node\.js v|node:internal|wasm:|\n\s+at /
const isWrong = ({ code, answer }: Outcome): boolean => !CODES.has(code) || OWN.test(answer)

afterAll(removeFormats)

const formats = await originals()

test('a Parquet file on which its library never ends is ended by its CPU time, with a clear error', async () => {
  const { code, answer } = await readConfined(formats['Parquet']!, HANGING_PARQUET)
  expect([code, answer]).toEqual(['FILE_TOO_COSTLY', expect.stringContaining('of CPU time without progress')])
})

test.each(OUTSIDE_PARQUET)(
  'a Parquet file that names ranges outside of it is refused in plain words: %i',
  async (seed) => {
    const { code, answer } = await readConfined(formats['Parquet']!, seed)
    expect(code).toBe('CONVERSION_FAILED')
    expect(answer).not.toMatch(OWN)
  },
)

describe(`${FILES} mutated files of each format`, { timeout: FILES * 3000 + 600_000 }, () => {
  test.each(Object.entries(formats))(
    '%s: each is read or refused in plain words, within bounds',
    async (name, original) => {
      const first = seedOfRun()
      const seeds = Array.from({ length: FILES }, (_, i) => first + i)
      const read = await readAll(original, seeds)
      // Alone, because a busy machine may have lacked memory for a moment.
      const again = await readAll(
        original,
        read.outcomes.filter(isWrong).map(({ seed }) => seed),
      )
      const outcomes = [...read.outcomes.filter((outcome) => !isWrong(outcome)), ...again.outcomes]
      const suspects = [...read.suspects, ...again.suspects]
      for (const seed of suspects) outcomes.push(await readConfined(original, seed))
      const counts = Object.entries(Object.groupBy(outcomes, ({ code }) => code)).map(
        ([code, all]) => `${code} ${all!.length}`,
      )
      process.stdout.write(`${name}: ${counts.join(', ')}; slow or large: ${suspects.length}; seeds from ${first}\n`)
      expect(outcomes.length).toBe(FILES)
      expect(outcomes.filter(isWrong)).toEqual([])
      // Otherwise the changes are too coarse to reach a reader. Of gzip one in forty is read: of few files maybe none.
      expect(outcomes.filter(({ code }) => code === 'READ').length).toBeGreaterThan(isFull ? FILES / 200 : -1)
    },
  )
})

/** Reads files in processes; each reads as many as it can. */
async function readAll(original: Original, seeds: readonly number[]) {
  const outcomes: Outcome[] = []
  const suspects: number[] = []
  for (let left = seeds; left.length > 0;) {
    const read = await readSome({ original, seeds: left })
    outcomes.push(...read)
    left = left.slice(read.length)
    if (left.length > 0) suspects.push(left[0]!)
    left = left.slice(1)
  }
  return { outcomes, suspects }
}

async function readSome(task: Task): Promise<Outcome[]> {
  const read: Outcome[] = []
  const execArgv = [`--max-old-space-size=${HEAP_MB}`, '--disable-warning=ExperimentalWarning']
  const child = fork(PROGRAM, { execArgv, serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  using watch = new ProcessWatch(child.pid!, { seconds: SUSPECT_SECONDS }, () => child.kill('SIGKILL'))
  child.on('message', (outcome: Outcome) => {
    read.push(outcome)
    watch.progressed()
  })
  child.send(task)
  await once(child, 'exit')
  return read
}

/** Reads a file as the product does; the reader's own bounds end it. */
async function readConfined(original: Original, seed: number): Promise<Outcome> {
  const workdir = await mkdtemp(join(tmpdir(), 'terrane-mutated-'))
  try {
    const bytes = mutated(original, seededRandom(seed))
    const startReader = readerProcesses({ stuckSeconds: 5 })
    await using file = await openFile((path) => writeFile(path, bytes), { workdir, startReader })
    for await (const { batch } of file.read()) void batch
    return { seed, code: 'READ', answer: JSON.stringify(file.warnings) }
  } catch (error) {
    const { code, message, hint } = error as TerraneError
    return { seed, code: error instanceof TerraneError ? code : `thrown ${message}`, answer: `${message} ${hint}` }
  } finally {
    await rm(workdir, { recursive: true, force: true })
  }
}
