import { relative } from 'node:path'
import { seededRandom } from '@terrane/core'
import { expect } from 'vitest'

/** Time that the cases of one call take in an everyday run. */
const SHARE_MS = 250

/** A UTC day is YYYYMMDD; five more digits are room for its cases, so that days share no case. */
const seedOfToday = (): string => `${new Date().toISOString().slice(0, 10).replaceAll('-', '')}00000`

/** The seed of this run: TERRANE_TEST_SEED, or that of the UTC day. */
export function seedOfRun(): number {
  // oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
  return Number(process.env['TERRANE_TEST_SEED'] ?? seedOfToday())
}

/** Whether this run takes all cases of everything: TERRANE_TEST_ALL=1. */
export function isWholeRun(): boolean {
  // oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
  return process.env['TERRANE_TEST_ALL'] === '1'
}

/**
 * The rows of a table of long tests that this run takes: all of them with `TERRANE_TEST_ALL=1`, otherwise `count`, drawn by
 * the seed of the run, in the order of the table. Prints which they are.
 *
 * @param title what a row is, for the line that is printed; tables of different titles are drawn independently
 * @param nameOf name of a row in that line
 * @example
 * const cases = shareOfRun('faults of the storage', ['503', 'reset', 'hang'], 1)
 * test.each(cases)('%s is told', async (fault) => …)
 */
export function shareOfRun<T>(
  title: string,
  rows: readonly T[],
  count: number,
  nameOf: (row: T) => string = String,
): T[] {
  if (isWholeRun() || count >= rows.length) return [...rows]
  const seed = seedOfRun()
  const random = seededRandom(
    Array.from(title).reduce((sum, letter) => (sum * 31 + letter.codePointAt(0)!) >>> 0, seed >>> 0),
  )
  const drawn = rows
    .map((row, index) => ({ row, index, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .slice(0, count)
    .toSorted((a, b) => a.index - b.index)
    .map(({ row }) => row)
  process.stdout.write(
    `${title}: ${drawn.map(nameOf).join(', ')}; ${count} of ${rows.length} by seed ${seed} (TERRANE_TEST_ALL=1 runs all)\n`,
  )
  return drawn
}

/**
 * Runs `check` on up to `runs` random cases within a test: normally for a quarter of a second but at least `least`
 * cases (5), with `TERRANE_TEST_ALL=1` all of them. The cases of a UTC day are the same everywhere. Each has its own
 * seed, which is passed on, e.g. for alternating between variants. A failure names the seed and the command that
 * repeats its case. Returns the number of cases that ran.
 */
export async function randomCases(
  runs: number,
  check: (random: () => number, seed: number) => void | Promise<void>,
  { least = 5 } = {},
): Promise<number> {
  const first = seedOfRun()
  const atLeast = isWholeRun() ? runs : Math.min(least, runs)
  const end = performance.now() + SHARE_MS
  let ran = 0
  for (; ran < atLeast || (ran < runs && performance.now() < end); ran++) {
    try {
      const pending = check(seededRandom(first + ran), first + ran)
      if (pending) await pending
    } catch (error) {
      if (error instanceof Error) error.message += repeatHint(first + ran, ran)
      throw error
    }
  }
  return ran
}

function repeatHint(seed: number, passed: number): string {
  const { testPath = '', currentTestName = '' } = expect.getState()
  const name = currentTestName.replaceAll(' > ', ' ').replaceAll(/[$()*+.?[\\\]^{|}"`]/gu, '.')
  const command = `TERRANE_TEST_SEED=${seed} npx vitest run ${relative(process.cwd(), testPath)} -t "${name}"`
  return `\nRandom case of seed ${seed}, after ${passed} that passed. Repeat it: ${command}`
}
