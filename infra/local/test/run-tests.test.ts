import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished, test, expect } from 'vitest'

type Run = (program: string, args: readonly string[]) => Promise<number>
const root = join(import.meta.dirname, '../../..')
interface Module {
  readonly runTests: (
    run: Run,
    report: string,
    args: readonly string[],
    reports: string,
    retry: boolean,
  ) => Promise<number>
}
const { runTests } = (await import(new URL('../../run-tests.mjs', import.meta.url).href)) as Module

const result = (path: string, status: string) => ({
  name: join(root, path),
  status,
  assertionResults: [{ status, fullName: `test of ${path}` }],
})

/** Runs a suite whose file `infra/b.test.ts` fails, and fails again or not. */
async function suite(again: (args: readonly string[]) => ReturnType<typeof result>[], args: readonly string[]) {
  const reports = mkdtempSync(join(tmpdir(), 'terrane-reports-'))
  onTestFinished(() => rmSync(reports, { recursive: true }))
  const calls: (readonly string[])[] = []
  const run: Run = async (_, given) => {
    calls.push(given)
    const file = given.find((arg) => arg.startsWith('--outputFile.json='))!.split('=')[1]!
    const testResults =
      calls.length === 1 ? [result('infra/a.test.ts', 'passed'), result('infra/b.test.ts', 'failed')] : again(given)
    const failed = testResults.filter(({ status }) => status === 'failed').length
    const counts = { numPassedTests: testResults.length - failed, numFailedTests: failed }
    writeFileSync(file, JSON.stringify({ ...counts, testResults }))
    return failed
  }
  const code = await runTests(run, 'suite', args, reports, true)
  const { numPassedTests, numFailedTests } = JSON.parse(readFileSync(join(reports, 'suite.json'), 'utf8')) as {
    numPassedTests: number
    numFailedTests: number
  }
  const flaky = existsSync(join(reports, 'flaky.txt')) ? readFileSync(join(reports, 'flaky.txt'), 'utf8') : ''
  return { code, passed: numPassedTests, failed: numFailedTests, flaky, again: calls[1] }
}

const ARGS = ['packages', 'infra', '--config', 'vitest.long.config.ts', '--exclude', '**/slow.test.ts', '--no-isolate']

test('a file that failed runs again alone, under the same options, and is flaky where it passes then', async () => {
  const done = await suite(() => [result('infra/b.test.ts', 'passed')], ARGS)
  expect(done).toMatchObject({ code: 0, passed: 2, failed: 0 })
  expect(done.flaky).toBe('suite: infra/b.test.ts: test of infra/b.test.ts\n')
  expect(done.again!.slice(-6)).toEqual([...ARGS.slice(2), 'infra/b.test.ts'])
})

test('a file that fails again has failed', async () => {
  const done = await suite(() => [result('infra/b.test.ts', 'failed')], ARGS)
  expect(done).toMatchObject({ code: 1, passed: 1, failed: 1, flaky: '' })
})

test('a second run of something else says nothing of the file', async () => {
  for (const others of [
    [],
    [result('infra/a.test.ts', 'passed')],
    ['a', 'b'].map((name) => result(`infra/${name}.test.ts`, 'passed')),
  ])
    expect(await suite(() => others, ARGS)).toMatchObject({ code: 1, passed: 1, failed: 1, flaky: '' })
})
