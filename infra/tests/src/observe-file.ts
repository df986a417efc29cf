// Set-up of every test file. It counts the CPU seconds of the file for the report of run.ts. It also refuses reads of
// files of the repository that are not in the key of the package's cached result, because a wrong cache hit would hide
// a failure.
import fs, { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { relative, resolve, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect } from 'vitest'
import { inputsOf, isInput } from './inputs.ts'
import { ROOT, folderOf, tierOf } from './tiers.ts'

/** File from which run.ts reads the seconds; absent when vitest was started by hand. */
const target = process.env['TERRANE_TEST_CPU']
/** Clock ticks per second of /proc, the same on every Linux that Node runs on. */
const TICKS = 100

const file = relative(ROOT, expect.getState().testPath!).split(sep).join('/')
/** The package of the running file. A process may run several packages when vitest was started by hand. */
const current = globalThis as { terraneTestFolder?: string | undefined }
const isFirst = !('terraneTestFolder' in current)
current.terraneTestFolder = undefined
const folder = folderOf(file)
inputsOf(folder)
// Results of long suites are not cached.
if (tierOf(file) !== 'long') current.terraneTestFolder = folder
if (isFirst) guardReads()

if (target) {
  const before = cpuSeconds()
  afterAll(() => appendFileSync(target, `${JSON.stringify({ file, seconds: cpuSeconds() - before })}\n`))
}

/** Makes the reading functions of node:fs throw for files of the repository outside of the package's inputs. */
function guardReads(): void {
  for (const [owner, names] of [
    [
      fs,
      ['readFile', 'readFileSync', 'readdir', 'readdirSync', 'createReadStream', 'open', 'openSync', 'cpSync', 'cp'],
    ],
    [fs.promises, ['readFile', 'readdir', 'open', 'cp']],
  ] as const) {
    const functions = owner as unknown as Record<string, (path: unknown, ...rest: unknown[]) => unknown>
    for (const name of names) {
      const original = functions[name]!
      functions[name] = function guardedRead(this: unknown, path, ...rest) {
        check(path)
        return original.call(this, path, ...rest)
      }
    }
  }
  syncBuiltinESMExports()
}

function check(path: unknown): void {
  if (typeof path !== 'string' && !(path instanceof URL)) return
  const target_ = resolve(path instanceof URL ? fileURLToPath(path) : path)
  const owner = current.terraneTestFolder
  if (owner === undefined || isInput(owner, target_)) return
  const input = relative(ROOT, target_).split(sep).join('/')
  throw new Error(
    `the tests of ${owner} read ${input}, which is not in the key of their cached result: ` +
      `add "$TURBO_ROOT$/${input}" to the inputs of the test tasks in ${owner}/turbo.json`,
  )
}

/** CPU seconds of this process, its threads, its children (on Linux), and what those have waited for. */
function cpuSeconds(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1e6 + childSeconds()
}

function childSeconds(): number {
  if (process.platform !== 'linux') return 0
  return [...children()].reduce((sum, pid) => sum + ticksOf(pid, 11, 4), ticksOf('self', 13, 2)) / TICKS
}

/** Ids of the children that have not ended. */
function* children(): Generator<string> {
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const listed = readFileSync(`/proc/self/task/${thread}/children`, 'utf8')
      yield* listed.split(' ').filter((pid) => pid !== '')
    } catch {
      // The thread has ended, or this kernel lists no children.
    }
  }
}

/** Sum of `count` fields from the one at `first`: utime, stime, cutime and cstime are at 11 to 14 after the command's name. */
function ticksOf(pid: string, first: number, count: number): number {
  try {
    // The name may contain spaces.
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ')
    return fields.slice(first, first + count).reduce((sum, ticks) => sum + Number(ticks), 0)
  } catch {
    return 0
  }
}
