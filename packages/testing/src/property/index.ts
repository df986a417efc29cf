import { relative } from 'node:path'
import { seededRandom } from '@terrane/core'
import { expect } from 'vitest'

/** Time that the cases of one call take in an everyday run. */
const SHARE_MS = 250

/** A UTC day is YYYYMMDD; five more digits are room for its cases, so that days share no case. */
const seedOfToday = (): string => `${new Date().toISOString().slice(0, 10).replaceAll('-', '')}00000`

/**
 * Runs `check` on up to `runs` random cases within a test: everyday for a quarter of a second but at least `least` cases (5), and all of them
 * with `TERRANE_TEST_ALL=1`. The cases of a UTC day are the same everywhere. Each draws from its own seed, which is passed
 * too: what alternates between cases follows from it. A failure names the seed and the command that repeats its case.
 * Returns the number of cases that ran.
 */
export async function randomCases(
  runs: number,
  check: (random: () => number, seed: number) => void | Promise<void>,
  { least = 5 } = {},
): Promise<number> {
  // oxlint-disable-next-line node/no-process-env -- Set for a whole run of tests.
  const { TERRANE_TEST_ALL, TERRANE_TEST_SEED = seedOfToday() } = process.env
  const first = Number(TERRANE_TEST_SEED)
  const atLeast = TERRANE_TEST_ALL === '1' ? runs : Math.min(least, runs)
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
