import { seededRandom } from '@terrane/core'
import { afterEach, expect, test, vi } from 'vitest'
import { randomCases, shareOfRun } from './index.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
  vi.useRealTimers()
})

test('an everyday run ends with its share of time, but not before the least number of cases', async () => {
  vi.stubEnv('TERRANE_TEST_ALL', '')
  let now = 0
  vi.spyOn(performance, 'now').mockImplementation(() => now)
  const slow = () => void (now += 100)
  expect(await randomCases(100, slow)).toBe(5)
  expect(await randomCases(100, slow, { least: 2 })).toBe(3)
  expect(await randomCases(4, slow)).toBe(4)
  vi.stubEnv('TERRANE_TEST_ALL', '1')
  expect(await randomCases(100, slow)).toBe(100)
})

test('a failure names the seed of its case, which repeats it as the first one', async () => {
  vi.stubEnv('TERRANE_TEST_SEED', '700')
  const drawn: number[] = []
  const failing = (random: () => number, seed: number) => {
    drawn.push(random())
    expect(seed).not.toBe(703)
  }
  const name = 'a failure names the seed of its case, which repeats it as the first one'
  const command = `TERRANE_TEST_SEED=703 npx vitest run packages/testing/src/property/property.test.ts -t "${name}"`
  await expect(randomCases(9, failing)).rejects.toThrow(command)
  expect(drawn[3]).toBe(seededRandom(703)())
  vi.stubEnv('TERRANE_TEST_SEED', '703')
  await expect(randomCases(9, async (random, seed) => failing(random, seed))).rejects.toThrow('after 0 that passed')
  expect(drawn[4]).toBe(drawn[3])
})

test('without a seed the cases are those of the UTC day', async () => {
  vi.stubEnv('TERRANE_TEST_SEED', undefined)
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 26, 23, 59), toFake: ['Date'] })
  const seeds: number[] = []
  await randomCases(2, (_, seed) => void seeds.push(seed))
  expect(seeds).toEqual([20261126_00000, 20261126_00001])
})

test('a run takes a share of a table by its seed, prints it, and with TERRANE_TEST_ALL all of it', () => {
  vi.stubEnv('TERRANE_TEST_ALL', '')
  const printed: string[] = []
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0)
  const rows = Array.from({ length: 10 }, (_, i) => i)
  const shareOf = (seed: number, title = 'rows') => {
    vi.stubEnv('TERRANE_TEST_SEED', String(seed))
    return shareOfRun(title, rows, 3, (row) => `row ${row}`)
  }
  const share = shareOf(2026112700000)
  expect([share.length, share.toSorted((a, b) => a - b), new Set(share).size]).toEqual([3, share, 3])
  expect(shareOf(2026112700000)).toEqual(share)
  const names = share.map((row) => `row ${row}`).join(', ')
  expect(printed[0]).toBe(`rows: ${names}; 3 of 10 by seed 2026112700000 (TERRANE_TEST_ALL=1 runs all)\n`)
  // Every row has its turn within some weeks, whatever the table is called.
  for (const title of ['rows', 'others']) {
    const days = Array.from({ length: 60 }, (_, day) => shareOf(2026112700000 + day * 100_000, title))
    expect(new Set(days.flat()).size).toBe(10)
  }
  expect(shareOfRun('all', rows, 10)).toEqual(rows)
  vi.stubEnv('TERRANE_TEST_ALL', '1')
  expect(shareOfRun('rows', rows, 3)).toEqual(rows)
})
