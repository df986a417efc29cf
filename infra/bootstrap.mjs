// The first program of every root command. It runs on the machine's Node (20.20 or newer), installs the dependencies
// from the npm registry, and starts Node 24, which the `node` package of that registry contains. It uses plain
// JavaScript and built-in modules only, because nothing is installed when it starts.
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
/** Folder that all clones on this machine share. */
const machineFolder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'terrane')
/** Distinguishes results of this run from those of earlier ones. */
const runId = process.env.TERRANE_RUN ?? randomUUID()
const stamp = join(root, 'node_modules', '.terrane-install')

/** Maximum concurrent test processes: one per core, and two more because many of them wait for children. */
const TESTS_AT_ONCE = availableParallelism() + 2
/** More than the number of packages, because tasks of tests wait for their places. */
const TASKS_AT_ONCE = 100

const commands = {
  install: async () => 0,
  stack: (args) => run('node', ['infra/local/src/main.ts', ...args]),
  // With arguments, only the named tests run, without the checks.
  test: async (args) => (args.length > 0 ? run('vitest', ['run', ...args]) : await everyday()),
  postgres: (args) => turbo(['test:postgres', ...args]),
  long: () => run('node', ['infra/tests/src/long.ts']),
  summary: (lanes) => run('node', ['infra/tests/src/summary.ts', ...lanes]),
}

/** Packages that `npm start` installs: the apps and the local stack with their dependencies, and Node. */
const RUNNING = ['--prod', '--filter', 'terrane', '--filter-prod', '{apps/*}...', '--filter-prod', '@terrane/local...']

const [name = 'install', ...rest] = process.argv.slice(2)
const command = commands[name]
if (!command) {
  console.error(`bootstrap: unknown command '${name}'; one of ${Object.keys(commands).join(', ')}`)
  process.exit(2)
}
requireNode(20, 20)
process.exitCode = (await install(name === 'stack' ? RUNNING : [])) || (await command(rest))

/** The checks and the everyday tests. Tests whose inputs have not changed since they passed are not run again. */
async function everyday() {
  const code = await turbo(['types', 'lint', 'rules', 'test'])
  const summary = await run('node', ['infra/tests/src/summary.ts', 'everyday'])
  if (code) console.error('npm test FAILED: a check (types, lint, rules) or a test, see `Failed:` above')
  return summary || code
}

/** Runs tasks of turbo.json. Results are cached per machine, so that other clones of the repository find them. */
async function turbo(args) {
  const places = await givePlaces(TESTS_AT_ONCE)
  const force = process.env.TERRANE_TEST_ALL === '1' ? ['--force'] : []
  const flags = ['--continue', '--output-logs=new-only', '--log-order=grouped', `--concurrency=${TASKS_AT_ONCE}`]
  const code = await run('turbo', ['run', ...flags, ...force, ...args], { TERRANE_PLACES: places.path })
  places.close()
  return code
}

/**
 * Installs the locked dependencies, unless they were installed from this lockfile before. `selection`: flags of pnpm
 * that leave out workspaces and development dependencies; a complete installation is enough for every selection.
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
  // The release dates of packages were checked when the lockfile was made, so they are not checked again.
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

/** Runs a program with the repository's binaries first on PATH, passes signals on, resolves to its exit code. */
function run(program, argv, more = {}) {
  const windows = process.platform === 'win32'
  const path = `${bin}${delimiter}${process.env.PATH ?? ''}`
  // Node caches the compiled modules and stripped types of every program here.
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
  // npm exports its configuration as variables, which pnpm would read as its own flags and warn about.
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

/** A terminal sends Ctrl-C to the whole process group, so this process waits until its child has ended. */
function waitForChild() {}

function requireNode(major, minor) {
  const [haveMajor = 0, haveMinor = 0] = process.versions.node.split('.').map(Number)
  if (haveMajor > major || (haveMajor === major && haveMinor >= minor)) return
  console.error(`Terrane needs Node ${major}.${minor} or newer to start; this is ${process.versions.node}.`)
  process.exit(1)
}
