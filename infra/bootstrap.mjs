// The first program of every root command. It runs on the Node the machine has (20.20 or newer), installs what the
// repository needs from the npm registry, and hands over to Node 24, which the `node` package of that registry brings.
// Plain JavaScript and built-in modules only: nothing is installed yet when it starts.
import { spawn } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { availableParallelism, homedir } from 'node:os'
import { dirname, delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pruneInstalled } from './docker/prune-installed.mjs'
import { endWithNpm } from './end-with-npm.mjs'
import { machineKey } from './tests/src/machine-key.mjs'
import { givePlaces } from './tests/src/places.mjs'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const bin = join(root, 'node_modules', '.bin')
/** What clones on this machine share. */
const machineFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'terrane')
/** Tells results of this run from those of earlier ones. */
const runId = process.env.TERRANE_RUN ?? randomUUID()
const stamp = join(root, 'node_modules', '.terrane-install')

/** Processes of tests that run at once: one for each core, and two more since many of them wait for children. */
const TESTS_AT_ONCE = availableParallelism() + 2
/** More tasks than there are packages: those of tests wait for their places. */
const TASKS_AT_ONCE = 100

const commands = {
  install: async () => 0,
  stack: (args) => run('node', ['infra/local/src/main.ts', ...args]),
  // With arguments only the tests that they name, without the checks.
  test: async (args) => (args.length > 0 ? run('vitest', ['run', ...args]) : await everyday()),
  postgres: (args) => turbo(['test:postgres', ...args]),
  long: () => run('node', ['infra/tests/src/long.ts']),
  summary: (lanes) => run('node', ['infra/tests/src/summary.ts', ...lanes]),
}

/** What `npm start` installs: the apps and the local stack with what they need to run, and Node (the root's dependency). */
const RUNNING = ['--prod', '--filter', 'terrane', '--filter-prod', '{apps/*}...', '--filter-prod', '@terrane/local...']

const [name = 'install', ...rest] = process.argv.slice(2)
const command = commands[name]
if (!command) {
  console.error(`bootstrap: unknown command '${name}'; one of ${Object.keys(commands).join(', ')}`)
  process.exit(2)
}
requireNode(20, 20)
process.exitCode = (await install(name === 'stack' ? RUNNING : [])) || (await command(rest))

/** The checks and the everyday tests, of which those whose inputs have not changed since they passed are not run again. */
async function everyday() {
  const code = await turbo(['types', 'lint', 'rules', 'test'])
  const summary = await run('node', ['infra/tests/src/summary.ts', 'everyday'])
  if (code) console.error('npm test FAILED: a check (types, lint, rules) or a test, see `Failed:` above')
  return summary || code
}

/** Runs tasks of turbo.json. Results are kept per machine, so that other clones of the repository find them. */
async function turbo(args) {
  const places = await givePlaces(TESTS_AT_ONCE)
  const force = process.env.TERRANE_TEST_ALL === '1' ? ['--force'] : []
  const flags = ['--continue', '--output-logs=new-only', '--log-order=grouped', `--concurrency=${TASKS_AT_ONCE}`]
  const code = await run('turbo', ['run', ...flags, ...force, ...args], { TERRANE_PLACES: places.path })
  places.close()
  return code
}

/**
 * Installs the locked dependencies unless the lockfile is the one that was installed last. `selection`: flags of pnpm
 * that leave out workspaces and development dependencies; a whole installation is enough for every selection.
 */
async function install(selection) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const lock = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex')
  const whole = `${lock} ${process.platform} ${process.arch}\n`
  const wanted = selection.length === 0 ? whole : `running ${whole}`
  if (existsSync(stamp) && [whole, wanted].includes(readFileSync(stamp, 'utf8'))) return 0
  console.log(`Installing dependencies with ${packageManager} (the first time takes a minute) ...`)
  // The lockfile was checked against the registry's dates when it was made; a clone trusts it as it trusts the code.
  const flags = [
    '--frozen-lockfile',
    '--trust-lockfile',
    '--config.confirm-modules-purge=false',
    '--reporter=append-only',
    '--loglevel=error',
  ]
  const code = await run('npx', ['--yes', packageManager, 'install', ...flags, ...selection])
  if (code) {
    console.error('bootstrap: the install failed; the npm registry must be reachable and node_modules writable')
    return code
  }
  pruneInstalled(root)
  mkdirSync(dirname(stamp), { recursive: true })
  writeFileSync(stamp, wanted)
  return 0
}

/** Runs a program with the repository's own binaries first on PATH, passes signals on, and resolves to its exit code. */
function run(program, argv, more = {}) {
  const windows = process.platform === 'win32'
  const path = `${bin}${delimiter}${process.env.PATH ?? ''}`
  // Of every program that starts, Node keeps what it compiled of its modules, and their types stripped.
  const kept = process.env.NODE_COMPILE_CACHE ?? join(root, '.cache', 'node')
  const env = {
    ...process.env,
    PATH: path,
    TURBO_TELEMETRY_DISABLED: '1',
    TURBO_CACHE_DIR: process.env.TURBO_CACHE_DIR ?? join(machineFolder, 'turbo'),
    NODE_COMPILE_CACHE: kept,
    TERRANE_RUN: runId,
    TERRANE_TEST_MACHINE: machineKey(root),
    ...more,
  }
  // An npm script exports its own configuration; pnpm would read it as flags of its own and warn about each.
  for (const key of Object.keys(env)) if (/^npm_(config|package|lifecycle)_/i.test(key)) delete env[key]
  return new Promise((resolve) => {
    const child = spawn(program, argv, { cwd: root, stdio: 'inherit', env, shell: windows })
    const forward = (signal) => child.kill(signal)
    process.on('SIGINT', waitForChild)
    process.on('SIGTERM', forward)
    const unwatch = endWithNpm(child)
    child.on('error', (error) => {
      console.error(`bootstrap: cannot run ${program}: ${error.message}`)
      resolve(1)
    })
    child.on('exit', (code, signal) => {
      process.off('SIGINT', waitForChild)
      process.off('SIGTERM', forward)
      unwatch()
      resolve(code ?? (signal === 'SIGINT' ? 130 : 1))
    })
  })
}

/** A terminal sends Ctrl-C to the whole process group: this process lives until its child has shut down. */
function waitForChild() {}

function requireNode(major, minor) {
  const [haveMajor = 0, haveMinor = 0] = process.versions.node.split('.').map(Number)
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return
  console.error(`Terrane needs Node ${major}.${minor} or newer to start; this is ${process.versions.node}.`)
  process.exit(1)
}
