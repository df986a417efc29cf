// Reads the reports of run.ts in the packages and prints a summary: tests that no lane ran, failures with the command
// that repeats each, flaky tests, the slowest files, and as the last line `N passed, N failed`.
//
// `node infra/tests/src/summary.ts everyday postgres long` counts these lanes.
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { FileResult, Report } from './run.ts'
import { LANES, ROOT, folderOf, reasonOfSlow, type Lane } from './tiers.ts'

/** A file that takes more seconds than one of these is listed as slow, with the reason in its line `// Slow: …`. */
const SLOW_SECONDS = 20
const SLOW_CPU_SECONDS = 60
const SLOWEST = 20
const NO_REASON = 'WARNING: it gives no reason (a line `// Slow: …`)'

interface Entry {
  readonly lane: Lane
  readonly file: string
  readonly result: FileResult
  readonly report: Report
}

const lanes = process.argv.slice(2) as Lane[]
const reports = lanes.flatMap((lane) =>
  globSync(`{packages,apps,infra}/*/.cache/tests/{${lane},${lane}-*}.json`, { cwd: ROOT }).map((path) => ({
    lane,
    report: JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Report,
  })),
)
const entries: Entry[] = reports.flatMap(({ lane, report }) =>
  report.testResults.map((result) => ({ lane, report, result, file: relative(ROOT, result.name) })),
)
const unknown = lanes.filter((lane) => !LANES.includes(lane))
if (unknown.length > 0) throw new Error(`unknown lane '${unknown[0]}'; one of ${LANES.join(', ')}`)

list('Tests that no lane ran:', leftOut())
list('Slowest files (seconds, CPU seconds):', slowest())
list('Slow files:', slow())
const outside = reports
  .filter(({ report }) => report.hasErrorOutsideTests)
  .map(({ lane, report }) => `${lane}: an error outside the tests of ${filesOfReport(report)}: see the output above`)
const failures = [...entries.flatMap(failuresOf), ...outside]
list('Failed:', failures)
const flaky = reports.flatMap(({ lane, report }) =>
  (report.flaky ?? []).map(({ file, tests }) => `${lane}: ${file}: ${tests}\n    ${commandOf(lane, file, report)}`),
)
list('Flaky, passed only when run again alone:', flaky.length === 0 ? ['none'] : flaky)

const passed = sum(reports.map(({ report }) => report.numPassedTests))
const restored = reports.filter(({ report }) => report.run !== process.env['TERRANE_RUN'])
const kept = sum(restored.map(({ report }) => report.numPassedTests))
if (kept > 0)
  console.log(`${kept} of these passed in an earlier run on this machine, and nothing that they read has changed.`)
const failed = failures.length + (reports.length === 0 ? 1 : 0)
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

function list(title: string, lines: readonly string[]): void {
  if (lines.length > 0) console.log([title, ...lines.map((line) => `  ${line}`)].join('\n'))
}

/** Reasons and counts of tests that were skipped in all lanes. */
function leftOut(): string[] {
  const ran = new Set<string>()
  const skipped = new Map<string, string>()
  for (const { file, result } of entries) {
    for (const { status, fullName } of result.assertionResults) {
      // The names of some suites contain the lane.
      const key = `${file} ${fullName.replace(/\((?:pglite|postgres)\)/, '')}`
      if (status === 'passed' || status === 'failed') ran.add(key)
      else skipped.set(key, `${file}: ${/SKIPPED[^:)]*/.exec(fullName)?.[0] ?? 'not for this machine or lane'}`)
    }
  }
  const counts = new Map<string, number>()
  for (const [key, reason] of skipped) if (!ran.has(key)) counts.set(reason, (counts.get(reason) ?? 0) + 1)
  return [...counts].toSorted(([a], [b]) => a.localeCompare(b)).map(([reason, count]) => `${count} of ${reason}`)
}

function slowest(): string[] {
  const sorted = entries.toSorted((a, b) => secondsOf(b.result) - secondsOf(a.result)).slice(0, SLOWEST)
  return sorted.map(({ lane, file, result, report }) => {
    const cpu = report.cpuSeconds?.[file]
    return `${secondsOf(result).toFixed(1).padStart(6)} ${cpu === undefined ? '     -' : cpu.toFixed(1).padStart(6)}  ${lane}: ${file}`
  })
}

function slow(): string[] {
  const over = entries.filter(
    ({ lane, file, result, report }) =>
      lane !== 'long' && (secondsOf(result) > SLOW_SECONDS || (report.cpuSeconds?.[file] ?? 0) > SLOW_CPU_SECONDS),
  )
  return over.map(({ lane, file }) => `${lane}: ${file}: ${reasonOfSlow(file) ?? NO_REASON}`)
}

function failuresOf({ lane, file, result, report }: Entry): string[] {
  const command = `\n    ${commandOf(lane, file, report)}`
  if (result.status === 'failed' && result.assertionResults.length === 0) {
    return [`${lane}: ${file}: ${firstLine(result.message)}${command}`]
  }
  return result.assertionResults
    .filter(({ status }) => status === 'failed')
    .map(
      ({ fullName, failureMessages }) => `${lane}: ${file}: ${fullName}: ${firstLine(failureMessages?.[0])}${command}`,
    )
}

/** The command that repeats a file in the same way. */
function commandOf(lane: Lane, file: string, report: Report): string {
  const url = lane === 'postgres' ? 'DATABASE_URL=… ' : ''
  const config = lane === 'long' ? '--config vitest.long.config.ts ' : ''
  return `${url}TERRANE_TEST_SEED=${report.seed ?? ''} npx vitest run ${config}${file}`
}

function filesOfReport({ testResults }: Report): string {
  return [...new Set(testResults.map(({ name }) => folderOf(relative(ROOT, name))))].join(', ')
}

function secondsOf({ startTime, endTime }: FileResult): number {
  return (endTime - startTime) / 1000
}

function firstLine(message: string | undefined): string {
  return (message ?? '').split('\n', 1)[0]!.slice(0, 300)
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
