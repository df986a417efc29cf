// Runs the tests of one package in one lane: `node ../../infra/tests/src/run.ts [everyday|postgres|long]` from its
// folder, as the package's scripts do. The report is in the package's .cache/tests, where turbo caches it and
// summary.ts reads it. A failed file runs once more, alone; if it passes then, it is reported as flaky.
import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { takePlaces } from './places.mjs'
import { LANES, ROOT, filesOf, reasonOfSlow, tierOf, type Lane } from './tiers.ts'

/** A vitest JSON report, with additions of this run. */
export interface Report {
  numPassedTests: number
  numFailedTests: number
  testResults: FileResult[]
  /** Id of the run that made it; another one than the current run's when turbo restored it. */
  run?: string
  /** Files that failed, and passed when they ran again alone, with the names of the tests. */
  flaky?: { readonly file: string; readonly tests: string }[]
  /** CPU seconds by file, children included. */
  cpuSeconds?: Record<string, number>
  /** The runner failed although no test did: an unhandled rejection, or an error at its end. */
  hasErrorOutsideTests?: boolean
  /** TERRANE_TEST_SEED of the run. */
  seed?: number
}

/** One file of a report; `name` is its path. */
export interface FileResult {
  name: string
  status: string
  startTime: number
  endTime: number
  message?: string
  assertionResults: { status: string; fullName: string; failureMessages?: string[] }[]
}

/** Runs vitest on files, resolves to its exit code, and leaves a JSON report in `report`. */
export type RunVitest = (files: readonly string[], report: string) => Promise<number>

/** Maximum failed files that are run again; more have a common cause, which another run does not remove. */
const MOST_RETRIES = 12
/** Files from which on a package takes two processes, so that it does not run longer than all others. */
const FILES_PER_PROCESS = 40

/** Runs files, and failed ones once more alone, and returns the whole report. `folder` is for intermediate files. */
export async function runFiles(files: readonly string[], folder: string, vitest: RunVitest): Promise<Report> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const path = join(folder, 'vitest.json')
  const code = await vitest(files, path)
  const report = readReport(path) ?? crashed(files)
  report.seed = seed()
  report.flaky = []
  report.cpuSeconds = readCpuSeconds(path)
  const failed = report.testResults.filter(({ status }) => status === 'failed')
  report.hasErrorOutsideTests = code !== 0 && failed.length === 0
  if (failed.length > MOST_RETRIES) return report
  for (const result of failed) {
    const file = relative(ROOT, result.name)
    process.stdout.write(`\nOnce more, alone: ${file}\n`)
    const again = join(folder, 'again.json')
    rmSync(again, { force: true })
    const codeAlone = await vitest([file], again)
    const second = readReport(again)?.testResults
    // A result for other files says nothing about this file.
    if (second?.length !== 1 || second[0]!.name !== result.name) continue
    // Its tests passed, but there was an error outside of them.
    if (codeAlone !== 0 && second[0]!.status === 'passed') continue
    replace(report, result, second[0]!)
    if (second[0]!.status === 'passed') report.flaky.push({ file, tests: failedTests(result) })
  }
  return report
}

/** TERRANE_TEST_SEED, or a number from the UTC day: its digits, and five more for the random cases of the day. */
export function seed(): number {
  return Number(process.env['TERRANE_TEST_SEED'] ?? `${new Date().toISOString().slice(0, 10).replaceAll('-', '')}00000`)
}

/** Whether a test, a file or something outside the tests failed. */
export function hasFailed({ testResults, hasErrorOutsideTests }: Report): boolean {
  return hasErrorOutsideTests === true || testResults.some(({ status }) => status === 'failed')
}

async function main(): Promise<void> {
  const lane = (process.argv[2] ?? 'everyday') as Lane
  if (!LANES.includes(lane)) throw new Error(`unknown lane '${lane}'; one of ${LANES.join(', ')}`)
  const folder = relative(ROOT, process.cwd()).replaceAll('\\', '/')
  const reports = join(process.cwd(), '.cache', 'tests')
  const target = join(reports, `${lane}.json`)
  rmSync(target, { force: true })
  const files = filesOf(folder, lane)
  const path = process.env['TERRANE_PLACES']
  const release = path && files.length > 0 ? await takePlaces(path, processesFor(files), sizeOf(files)) : null
  const report: Report =
    files.length === 0
      ? { numPassedTests: 0, numFailedTests: 0, testResults: [] }
      : await runFiles(files, join(reports, lane), (chosen, target_) => startVitest(chosen, target_, lane))
  release?.()
  report.run = process.env['TERRANE_RUN'] ?? ''
  mkdirSync(reports, { recursive: true })
  writeFileSync(target, JSON.stringify(report))
  rmSync(join(reports, lane), { recursive: true, force: true })
  if (hasFailed(report)) process.exitCode = 1
}

/** Runs vitest on files as a lane does; see {@link RunVitest}. `allCases`: random cases are drawn by the full number. */
export function startVitest(
  files: readonly string[],
  report: string,
  lane: Lane,
  { allCases = false } = {},
): Promise<number> {
  const config = lane === 'long' ? ['--config', 'vitest.long.config.ts'] : []
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${report}`]
  const workers = `--maxWorkers=${processesFor(files)}`
  const all = allCases ? { TERRANE_TEST_ALL: '1' } : {}
  const env = { ...process.env, ...all, TERRANE_TEST_SEED: `${seed()}`, TERRANE_TEST_CPU: cpuFile(report) }
  const order = process.env['TERRANE_ORDER']
  const shuffle = order ? ['--sequence.shuffle.files', `--sequence.seed=${order}`] : []
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const args = [vitest, 'run', workers, ...config, ...reporters, ...shuffle, ...files]
  const child = spawn(process.execPath, args, { cwd: ROOT, stdio: 'inherit', env })
  return new Promise((resolve, reject) => {
    child.on('error', reject)
    child.on('exit', (code) => resolve(code ?? 1))
  })
}

function processesFor(files: readonly string[]): number {
  return files.length > FILES_PER_PROCESS ? 2 : 1
}

/** Approximate size of a package's tests: a file with a database or processes counts five, a slow one twenty. */
function sizeOf(files: readonly string[]): number {
  return files.reduce((sum, file) => sum + (reasonOfSlow(file) !== null ? 20 : tierOf(file) === 'unit' ? 1 : 5), 0)
}

/** A report for a run without one: each of its files failed. */
function crashed(files: readonly string[]): Report {
  const testResults = files.map((file) => ({
    name: join(ROOT, file),
    status: 'failed',
    startTime: 0,
    endTime: 0,
    message: 'the test runner ended without a report',
    assertionResults: [],
  }))
  return { numPassedTests: 0, numFailedTests: 0, testResults }
}

/** Replaces the first result of a file by the second one. */
function replace(report: Report, before: FileResult, after: FileResult): void {
  report.numPassedTests += count(after, 'passed') - count(before, 'passed')
  report.numFailedTests += count(after, 'failed') - count(before, 'failed')
  report.testResults[report.testResults.indexOf(before)] = after
}

function count(result: FileResult, status: string): number {
  return result.assertionResults.filter((test) => test.status === status).length
}

function failedTests(result: FileResult): string {
  const tests = result.assertionResults.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
  return tests.join(' | ') || 'the file could not be loaded'
}

/** Path to which infra/tests/src/observe-file.ts writes the seconds of the run with this report. */
function cpuFile(report: string): string {
  return `${report}.cpu`
}

function readCpuSeconds(report: string): Record<string, number> {
  if (!existsSync(cpuFile(report))) return {}
  const lines = readFileSync(cpuFile(report), 'utf8').trim().split('\n')
  const files = lines.map((line) => JSON.parse(line) as { file: string; seconds: number })
  return Object.fromEntries(files.map(({ file, seconds }) => [file, seconds]))
}

function readReport(path: string): Report | null {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as Report
  } catch {
    return null
  }
}

if (import.meta.main) await main()
