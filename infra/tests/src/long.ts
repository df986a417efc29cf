// Runs the long suites: those of the packages that changed whole, and a sample of the others until the budget is used.
// TERRANE_TEST_ALL=1 runs all. Changed is what differs from the last commit that passed on this machine
// (TERRANE_TEST_SINCE), or else from the last commit that is a day older than this one (changes.ts).
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { changesSince } from './changes.ts'
import { workspacesOf } from './inputs.ts'
import { hasFailed, runFiles, seed, startVitest } from './run.ts'
import { ROOT, TEST_FILES, folderOf, hasRandomCases, mostlyWaits, tierOf } from './tiers.ts'

/** Minutes in which suites of unchanged packages begin. */
const BUDGET_MINUTES = 8
/** Suites that run at once take at most so many places. */
const PLACES = 6

/** What runs in one process: a long suite, or the files of a package that draw random cases, with all of their cases. */
interface Suite {
  readonly name: string
  readonly folder: string
  readonly files: readonly string[]
  /** Of {@link PLACES}. */
  readonly places: number
}
/** Name of the suites of files that draw random cases. */
const RANDOM_CASES = 'random-cases'

const isAll = process.env['TERRANE_TEST_ALL'] === '1'
const changes = isAll ? null : changesSince(process.env['TERRANE_TEST_SINCE'])
const random = seededRandom(seed())
const queue = suites()
  .map((suite) => ({ suite, order: rankOf(suite) + random() }))
  .toSorted((a, b) => a.order - b.order)
  .map(({ suite }) => suite)
console.log(
  changes === null
    ? `All ${queue.length} long suites run.`
    : `Long suites: all of what changed since ${changes.since} ` +
        `(${[...changes.folders].toSorted().join(', ') || 'nothing'}), then others in the order of seed ${seed()} for ${BUDGET_MINUTES} minutes.`,
)

const deadline = Date.now() + BUDGET_MINUTES * 60_000
const left: string[] = []
/** Suites that run, with their places. */
const running = new Map<Promise<void>, number>()
while (queue.length > 0) {
  const suite = await nextSuite()
  if (!isChanged(suite) && Date.now() > deadline) {
    left.push(`${suite.folder}: ${suite.name}`)
    continue
  }
  const run = runSuite(suite).finally(() => running.delete(run))
  running.set(run, suite.places)
}
await Promise.all(running.keys())
if (left.length > 0) console.log(`Long suites that did not run this time:\n  ${left.toSorted().join('\n  ')}`)

function suites(): Suite[] {
  const files = globSync(TEST_FILES, { cwd: ROOT })
  const long = files
    .filter((file) => tierOf(file) === 'long')
    .map((file) => ({
      name: basename(file, '.long.test.ts'),
      folder: folderOf(file),
      files: [file],
      places: placesOf(file),
    }))
  const drawn = files.filter((file) => tierOf(file) !== 'long' && hasRandomCases(file))
  const packages = Map.groupBy(drawn, folderOf)
  return [
    ...long,
    ...[...packages].map(([folder, own]) => ({ name: RANDOM_CASES, folder, files: own, places: PLACES / 2 })),
  ]
}

/** Whether a suite runs whatever the budget is. */
function isChanged({ folder, files }: Suite): boolean {
  return changes === null || changes.folders.has(folder) || changes.touch(files)
}

/**
 * Changed suites first, then those of packages that depend on a changed one, then all others. A suite that runs alone waits
 * until nothing else runs, which leaves the machine half idle: changed ones come together, after the others.
 */
function rankOf(suite: Suite): number {
  if (isChanged(suite)) return suite.places === PLACES ? 1 : 0
  return workspacesOf(suite.folder).some((dependency) => changes?.folders.has(dependency)) ? 2 : 3
}

/** Suites that measure memory or delays run alone, stacks of apps in pairs, others by threes; one that waits takes little. */
function placesOf(file: string): number {
  if (file.endsWith('.alone.long.test.ts')) return PLACES
  if (mostlyWaits(file)) return 1
  return file.startsWith('infra/') ? PLACES / 2 : PLACES / 3
}

/** Takes the first suite of the queue for which there are places, or another of its rank that needs fewer. */
async function nextSuite(): Promise<Suite> {
  const rank = rankOf(queue[0]!)
  for (;;) {
    const free = PLACES - [...running.values()].reduce((sum, taken) => sum + taken, 0)
    const index = queue.findIndex((suite) => suite.places <= free && rankOf(suite) === rank)
    if (index !== -1) return queue.splice(index, 1)[0]!
    await Promise.race(running.keys())
  }
}

async function runSuite({ name, folder, files }: Suite): Promise<void> {
  const reports = join(ROOT, folder, '.cache', 'tests')
  const target = join(reports, `long-${name}.json`)
  rmSync(target, { force: true })
  const scratch = join(reports, `long-${name}`)
  const allCases = name === RANDOM_CASES
  const report = await runFiles(files, scratch, (chosen, path) => startVitest(chosen, path, 'long', { allCases }))
  report.run = process.env['TERRANE_RUN'] ?? ''
  mkdirSync(reports, { recursive: true })
  writeFileSync(target, JSON.stringify(report))
  rmSync(scratch, { recursive: true, force: true })
  if (hasFailed(report)) process.exitCode = 1
}
