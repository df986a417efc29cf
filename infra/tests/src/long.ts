// Runs the long suites: the tenth of the day, then others in the order of long-order.ts until the budget is used.
// TERRANE_TEST_ALL=1 runs all. Changes are relative to the last commit that passed on this machine
// (TERRANE_TEST_SINCE), or else to the last commit that is a day older than this one (changes.ts).
import { globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { changesSince } from './changes.ts'
import { workspacesOf } from './inputs.ts'
import { orderOf, type Candidate } from './long-order.ts'
import { hasFailed, runFiles, seed, startVitest } from './run.ts'
import { ROOT, TEST_FILES, folderOf, hasRandomCases, mostlyWaits, tierOf } from './tiers.ts'

/** Minutes in which suites may start; those of the day's share always run. */
const BUDGET_MINUTES = Number(process.env['TERRANE_LONG_MINUTES'] || 12)
/** Maximum places of concurrently running suites. */
const PLACES = 6
const DAY_MS = 86_400_000

/** Tests of one process: a long suite, or the files of a package with random cases, with all of their cases. */
interface Suite extends Candidate {
  readonly name: string
  readonly folder: string
  readonly files: readonly string[]
  /** Number of {@link PLACES} that it takes. */
  readonly places: number
}
/** Name of the suites of files that draw random cases. */
const RANDOM_CASES = 'random-cases'
/** Suites of changed packages that earlier runs on this machine have left out, the oldest first. */
const OWED = join(process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache'), 'terrane', 'long-owed.json')

const isAll = process.env['TERRANE_TEST_ALL'] === '1'
const changes = isAll ? null : changesSince(process.env['TERRANE_TEST_SINCE'])
const all = suites()
const owed = readOwed().filter((title) => all.some((suite) => suite.title === title))
const queue = orderOf(all, { owed, day: Math.floor(Date.now() / DAY_MS), seed: seed() })
console.log(
  changes === null
    ? `All ${queue.length} long suites run.`
    : `Long suites, for ${BUDGET_MINUTES} minutes: the tenth of the day, what was edited since ${changes.since}, what earlier ` +
        `runs owe (${owed.length}), changed packages (${[...changes.folders.keys()].toSorted().join(', ') || 'none'}) and others by seed ${seed()}.`,
)

const deadline = Date.now() + BUDGET_MINUTES * 60_000
const left: Suite[] = []
const passed = new Set<string>()
/** Running suites, with their places. */
const running = new Map<Promise<void>, number>()
while (queue.length > 0) {
  const { suite, isDue } = await nextSuite()
  if (!isAll && !isDue && Date.now() > deadline) {
    left.push(suite)
    // An earlier result must not count for changed files.
    rmSync(reportOf(suite), { force: true })
    continue
  }
  const run = runSuite(suite).finally(() => running.delete(run))
  running.set(run, suite.places)
}
await Promise.all(running.keys())
const added = left.filter((suite) => isChanged(suite) && !owed.includes(suite.title))
writeOwed([...owed.filter((title) => !passed.has(title)), ...added.map(({ title }) => title)])
if (left.length > 0) {
  const lines = left.map(
    (suite) => `  ${suite.title}${isChanged(suite) ? ', changed: an early place in the next run' : ''}`,
  )
  console.log(`Long suites that did not run this time:\n${lines.toSorted().join('\n')}`)
}

function isChanged({ isTouched, changedLines }: Suite): boolean {
  return isTouched || changedLines > 0
}

function readOwed(): string[] {
  try {
    return JSON.parse(readFileSync(OWED, 'utf8')) as string[]
  } catch {
    return []
  }
}

function writeOwed(titles: readonly string[]): void {
  mkdirSync(dirname(OWED), { recursive: true })
  writeFileSync(OWED, JSON.stringify(titles))
}

function suites(): Suite[] {
  const files = globSync(TEST_FILES, { cwd: ROOT })
  const long = files
    .filter((file) => tierOf(file) === 'long')
    .map((file) => suiteOf(basename(file, '.long.test.ts'), folderOf(file), [file], placesOf(file)))
  const drawn = files.filter((file) => tierOf(file) !== 'long' && hasRandomCases(file))
  const packages = Map.groupBy(drawn, folderOf)
  return [...long, ...[...packages].map(([folder, own]) => suiteOf(RANDOM_CASES, folder, own, PLACES / 2))]
}

/** A suite with the facts for its order. */
function suiteOf(name: string, folder: string, files: readonly string[], places: number): Suite {
  return {
    title: `${folder}: ${name}`,
    name,
    folder,
    files,
    places,
    isAlone: places === PLACES,
    isTouched: changes?.touch(files) ?? false,
    changedLines: changes?.folders.get(folder) ?? 0,
    dependsOnChanged: workspacesOf(folder).some((dependency) => changes?.folders.has(dependency)),
  }
}

/** Suites that measure take all places, stacks of apps a half, others a third; one that mostly waits takes few. */
function placesOf(file: string): number {
  if (file.endsWith('.alone.long.test.ts')) return PLACES
  if (mostlyWaits(file)) return 1
  return file.startsWith('infra/') ? PLACES / 2 : PLACES / 3
}

/** Takes the first suite of the queue that fits into the free places, or another one of its rank that needs fewer. */
async function nextSuite(): Promise<(typeof queue)[number]> {
  const { rank } = queue[0]!
  for (;;) {
    const free = PLACES - [...running.values()].reduce((sum, taken) => sum + taken, 0)
    const index = queue.findIndex((entry) => entry.suite.places <= free && entry.rank === rank)
    if (index !== -1) return queue.splice(index, 1)[0]!
    await Promise.race(running.keys())
  }
}

async function runSuite(suite: Suite): Promise<void> {
  const { title, name, files } = suite
  const target = reportOf(suite)
  rmSync(target, { force: true })
  const scratch = join(dirname(target), `long-${name}`)
  const allCases = name === RANDOM_CASES
  const report = await runFiles(files, scratch, (chosen, path) => startVitest(chosen, path, 'long', { allCases }))
  report.run = process.env['TERRANE_RUN'] ?? ''
  mkdirSync(dirname(target), { recursive: true })
  writeFileSync(target, JSON.stringify(report))
  rmSync(scratch, { recursive: true, force: true })
  if (hasFailed(report)) process.exitCode = 1
  else passed.add(title)
}

/** Path from which summary.ts reads the report of a suite. */
function reportOf({ folder, name }: Suite): string {
  return join(ROOT, folder, '.cache', 'tests', `long-${name}.json`)
}
