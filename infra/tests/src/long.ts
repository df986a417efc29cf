// Runs the long suites: those of the packages that changed whole, and a sample of the others until the budget is used.
// TERRANE_TEST_ALL=1 runs all. Changed is what differs from the last commit that passed on this machine
// (TERRANE_TEST_SINCE), or else from the last commit that is a day older than this one.
import { spawnSync } from 'node:child_process'
import { globSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { seededRandom } from '@terrane/core'
import { workspacesOf } from './inputs.ts'
import { hasFailed, runFiles, seed, startVitest } from './run.ts'
import { ROOT, TEST_FILES, folderOf, hasRandomCases, tierOf } from './tiers.ts'

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

const isAll = process.env['TERRANE_TEST_ALL'] === '1'
const { changed, since } = isAll ? { changed: new Set<string>(), since: null } : changedFolders()
const random = seededRandom(seed())
const queue = suites()
  .map((suite) => ({ suite, order: rankOf(suite) + random() }))
  .toSorted((a, b) => a.order - b.order)
  .map(({ suite }) => suite)
console.log(
  isAll
    ? `All ${queue.length} long suites run.`
    : `Long suites: all of what changed since ${since} (${[...changed].toSorted().join(', ') || 'nothing'}), ` +
        `then others in the order of seed ${seed()} for ${BUDGET_MINUTES} minutes.`,
)

const deadline = Date.now() + BUDGET_MINUTES * 60_000
const left: string[] = []
/** Suites that run, with their places. */
const running = new Map<Promise<void>, number>()
for (const suite of queue) {
  await waitForPlaces(suite.places)
  if (!isAll && !changed.has(suite.folder) && Date.now() > deadline) {
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
    ...[...packages].map(([folder, own]) => ({ name: 'random-cases', folder, files: own, places: PLACES / 2 })),
  ]
}

/** Changed packages first, then packages that depend on one, then all others. */
function rankOf({ folder }: Suite): number {
  if (isAll || changed.has(folder)) return 0
  return workspacesOf(folder).some((dependency) => changed.has(dependency)) ? 1 : 2
}

/** Suites that measure memory or delays run alone, stacks of apps in pairs, others by threes. */
function placesOf(file: string): number {
  if (file.endsWith('.alone.long.test.ts')) return PLACES
  return file.startsWith('infra/') ? PLACES / 2 : PLACES / 3
}

async function waitForPlaces(places: number): Promise<void> {
  while ([...running.values()].reduce((sum, taken) => sum + taken, 0) > PLACES - places) {
    await Promise.race(running.keys())
  }
}

async function runSuite({ name, folder, files }: Suite): Promise<void> {
  const reports = join(ROOT, folder, '.cache', 'tests')
  const target = join(reports, `long-${name}.json`)
  rmSync(target, { force: true })
  const scratch = join(reports, `long-${name}`)
  const report = await runFiles(files, scratch, (chosen, path) => startVitest(chosen, path, 'long'))
  report.run = process.env['TERRANE_RUN'] ?? ''
  mkdirSync(reports, { recursive: true })
  writeFileSync(target, JSON.stringify(report))
  rmSync(scratch, { recursive: true, force: true })
  if (hasFailed(report)) process.exitCode = 1
}

function changedFolders(): { changed: Set<string>; since: string } {
  const last = process.env['TERRANE_TEST_SINCE']
  const isKnown = last && git('merge-base', '--is-ancestor', last, 'HEAD') !== null
  const day = new Date(Date.parse(git('log', '-1', '--format=%cI') ?? '') - 86_400_000).toISOString()
  const base = isKnown
    ? last
    : git('rev-list', '-1', `--before=${day}`, 'HEAD') || git('rev-list', '--max-parents=0', 'HEAD')
  if (!base) throw new Error('long suites: this is no git repository; set TERRANE_TEST_ALL=1 to run all of them')
  const files = (git('diff', '--name-only', base, 'HEAD') ?? '').split('\n')
  return { changed: new Set(files.filter((file) => file.split('/').length > 2).map(folderOf)), since: base }
}

/** The output of git, or null when it fails. */
function git(...args: string[]): string | null {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' })
  return status === 0 ? stdout.trim() : null
}
