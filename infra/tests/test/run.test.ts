import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { hasFailed, runFiles, type FileResult } from '../src/run.ts'
import { ROOT } from '../src/tiers.ts'

const result = (path: string, status: string): FileResult => ({
  name: join(ROOT, path),
  status,
  startTime: 0,
  endTime: 1000,
  assertionResults: [{ status, fullName: `test of ${path}` }],
})

/** Runs two files; `infra/b.test.ts` fails, and its second run answers `again`. */
async function suite(again: readonly FileResult[] | null) {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-reports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const calls: (readonly string[])[] = []
  const report = await runFiles(['infra/a.test.ts', 'infra/b.test.ts'], join(folder, 'run'), async (files, path) => {
    calls.push(files)
    const first = [result('infra/a.test.ts', 'passed'), result('infra/b.test.ts', 'failed')]
    const testResults = calls.length === 1 ? first : again
    if (testResults === null) return 1
    const failed = testResults.filter(({ status }) => status === 'failed').length
    const counts = { numPassedTests: testResults.length - failed, numFailedTests: failed }
    writeFileSync(path, JSON.stringify({ ...counts, testResults }))
    return failed
  })
  return { report, calls }
}

test('a file that failed runs again alone, and is flaky when it passes then', async () => {
  const { report, calls } = await suite([result('infra/b.test.ts', 'passed')])
  expect(report).toMatchObject({ numPassedTests: 2, numFailedTests: 0 })
  expect(report.flaky).toEqual([{ file: 'infra/b.test.ts', tests: 'test of infra/b.test.ts' }])
  expect(calls).toEqual([['infra/a.test.ts', 'infra/b.test.ts'], ['infra/b.test.ts']])
})

test('a file that fails again has failed', async () => {
  const { report } = await suite([result('infra/b.test.ts', 'failed')])
  expect(report).toMatchObject({ numPassedTests: 1, numFailedTests: 1, flaky: [] })
})

test.each([
  ['nothing', []],
  ['another file', [result('infra/a.test.ts', 'passed')]],
  ['several files', [result('infra/a.test.ts', 'passed'), result('infra/b.test.ts', 'passed')]],
  ['no report', null],
])('a second run of %s does not count', async (_, again) => {
  const { report } = await suite(again)
  expect(report).toMatchObject({ numPassedTests: 1, numFailedTests: 1, flaky: [] })
})

test('a run that ends without a report has failed in every file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-reports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const report = await runFiles(['infra/a.test.ts'], folder, async () => 1)
  expect(report.testResults.map(({ status, message }) => [status, message])).toEqual([
    ['failed', 'the test runner ended without a report'],
  ])
})

test('a run whose tests pass has failed when the runner reports an error outside them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-reports-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const run = (code: number) =>
    runFiles(['infra/a.test.ts'], folder, async (_, path) => {
      const testResults = [result('infra/a.test.ts', 'passed')]
      writeFileSync(path, JSON.stringify({ numPassedTests: 1, numFailedTests: 0, testResults }))
      return code
    })
  expect([hasFailed(await run(0)), hasFailed(await run(1))]).toEqual([false, true])
})
