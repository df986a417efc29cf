// Runs a suite of tests and leaves the runner's report where .ci/run counts it. Where TERRANE_RETRY_FAILED is set, each
// file that failed runs once more, alone: one that passes then is flaky. It counts as passed and is listed, so that a
// test which depends on what runs beside it is seen and mended, and does not hide what really fails.
import { appendFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const REPORTS = join(root, '.cache', 'reports')
/** With more failed files than this something is wrong that another run does not mend. */
const MOST_RETRIES = 12

/**
 * `run` starts a program and resolves to its exit code; `args` are vitest's, each value of an option an argument of its
 * own. Resolves to the suite's exit code.
 */
export async function runTests(
  run,
  report,
  args,
  reports = REPORTS,
  retry = Boolean(process.env.TERRANE_RETRY_FAILED),
) {
  mkdirSync(`${reports}/again`, { recursive: true })
  const file = `${reports}/${report}.json`
  const code = await vitest(run, file, args)
  if (code === 0 || !retry) return code
  const whole = read(file)
  const failed = whole?.testResults.filter((result) => result.status === 'failed') ?? []
  if (failed.length === 0 || failed.length > MOST_RETRIES) return code

  let left = 0
  for (const [index, result] of failed.entries()) {
    const path = relative(root, result.name)
    console.log(`\nOnce more, alone: ${path}`)
    const again = `${reports}/again/${report}-${index}.json`
    const passed = (await vitest(run, again, [...options(args), path])) === 0
    const second = read(again)?.testResults
    // What ran is that file and no other, or it says nothing of it.
    if (second?.length !== 1 || second[0].name !== result.name) {
      left += 1
      continue
    }
    replace(whole, result, second[0])
    if (passed) appendFileSync(`${reports}/flaky.txt`, `${report}: ${path}: ${names(result)}\n`)
    else left += 1
  }
  writeFileSync(file, JSON.stringify(whole))
  return left === 0 ? 0 : code
}

function vitest(run, file, args) {
  return run('vitest', ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${file}`, ...args])
}

/** The arguments that choose no tests: flags, and the values of those that have one. */
function options(args) {
  return args.filter((arg, index) => arg.startsWith('-') || WITH_VALUE.has(args[index - 1]))
}

const WITH_VALUE = new Set(['--config', '--exclude'])

/** Puts the second run of a file in the place of the first. */
function replace(report, before, after) {
  report.numPassedTests += count(after, 'passed') - count(before, 'passed')
  report.numFailedTests += count(after, 'failed') - count(before, 'failed')
  report.testResults[report.testResults.indexOf(before)] = after
}

function count(result, status) {
  return result.assertionResults.filter((test) => test.status === status).length
}

function names(result) {
  const tests = result.assertionResults.filter((test) => test.status === 'failed').map((test) => test.fullName)
  return tests.join(' | ') || 'the file could not be loaded'
}

function read(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    return null
  }
}
