// From the reports of the test runner in a folder: what no run of the tests did, what failed, and `N passed, N failed`.
import { readFileSync, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'

const folder = process.argv[2] ?? '.cache/reports'
let passed = 0
let failed = 0
let files = []
/** Names of tests by file: those that some run did, and those that some run left out. */
const done = new Set()
const leftOut = new Map()
/** What failed, with the first line of its error. */
const failures = []
try {
  files = readdirSync(folder).filter((name) => name.endsWith('.json'))
} catch {
  // No report at all is a failure, below.
}
for (const name of files) {
  const report = JSON.parse(readFileSync(join(folder, name), 'utf8'))
  passed += report.numPassedTests
  failed += report.numFailedTests
  // A file that cannot be loaded has no tests that could fail.
  for (const file of report.testResults) {
    const path = relative(process.cwd(), file.name)
    if (file.status === 'failed' && file.assertionResults.length === 0) {
      failed += 1
      failures.push(`${name}: ${path}: ${firstLine(file.message)}`)
    }
    for (const { fullName, status, failureMessages } of file.assertionResults) {
      if (status === 'failed') failures.push(`${name}: ${path}: ${fullName}: ${firstLine(failureMessages?.[0])}`)
      // The lane stands in the names of some suites.
      const key = `${path} ${fullName.replace(/\((?:pglite|postgres)\)/, '')}`
      if (status === 'passed' || status === 'failed') done.add(key)
      else leftOut.set(key, `${path}: ${/SKIPPED[^:)]*/.exec(fullName)?.[0] ?? 'not for this machine or lane'}`)
    }
  }
}
const skipped = new Map()
for (const [key, reason] of leftOut) if (!done.has(key)) skipped.set(reason, (skipped.get(reason) ?? 0) + 1)
if (skipped.size > 0) console.log('Tests that no run did:')
for (const [reason, count] of [...skipped].toSorted(([a], [b]) => a.localeCompare(b)))
  console.log(`  ${count} of ${reason}`)
if (failures.length > 0) console.log('Failed:')
for (const failure of failures) console.log(`  ${failure}`)
if (files.length === 0) failed += 1
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0

function firstLine(message) {
  return (message ?? '').split('\n', 1)[0].slice(0, 300)
}
