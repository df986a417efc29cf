// Prints `N passed, N failed` from the reports of the test runner in a folder.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const folder = process.argv[2] ?? '.cache/reports'
let passed = 0
let failed = 0
let files = []
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
  failed += report.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length
}
if (files.length === 0) failed += 1
console.log(`${passed} passed, ${failed} failed`)
process.exitCode = failed > 0 ? 1 : 0
