import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ENTRIES, WRANGLER_FILES, readProjectRules, type DenoImports } from '@terrane/bundler'
import { TerraneError } from '@terrane/core'
import { readBindings } from '../bindings.ts'
import { GIVEN_VARIABLES, isSecretName } from '../environment.ts'
import { cliFailed } from '../errors.ts'
import { FUNCTION_NAME } from '../policy.ts'
import { isEnabled, readEnvFile, readOwnSecrets, secretsFiles } from '../sources/function-folder.ts'
import { functionsRootOf } from '../sources/functions-root.ts'
import { callHost, type Print, type Target } from './client.ts'
import { readUpload, sendUpload } from './upload.ts'
import { wantsOf } from './wants.ts'

interface Outcome {
  readonly name: string
  readonly isRunning: boolean
  /** What has become of it, or why it does not run. */
  readonly text: string
  readonly hosts: readonly string[]
  /** Variables that it reads and that are not set. */
  readonly unset: readonly string[]
  /** Variables that it reads and that only the host may set, but does not. */
  readonly unsettable: readonly string[]
  /** Settings of a Worker that have no counterpart. */
  readonly unavailable: readonly string[]
}

interface ImportOptions {
  readonly dryRun: boolean
  readonly imports: DenoImports | null
  readonly print: Print
}

/**
 * Deploys the functions of a Supabase project, of a Worker or of a folder of Workers as they are, with the secrets of their `.env` files, and
 * reports which run, the hosts and secrets that each wants, and why others do not run. One that fails keeps none of the others back.
 *
 * @throws CLI_FAILED when there is no function, or when some do not run
 */
export async function importProject(target: Target, given: string, options: ImportOptions): Promise<void> {
  const { dryRun, print } = options
  const folder = await realpath(resolve(given)).catch(() => {
    throw cliFailed({ reason: `there is no folder ${given}` })
  })
  const root = functionsRootOf(folder)
  const found = await functionsIn(root)
  for (const { name, why } of found.left) print(`${name}: left out, ${why}`)
  if (found.functions.length === 0) throw cliFailed({ reason: `there is no function in ${root}` })
  const fence = fenceOf(folder)
  const shared = found.isWorker ? {} : await readSecrets(join(root, '.env'), fence)
  const set = new Set(await setSecrets({ target, path: '/secrets', secrets: shared, dryRun }))
  const outcomes: Outcome[] = []
  for (const [name, home] of found.functions) {
    const outcome = await importOne({ target, name, home, fence, set, ...options })
    outcomes.push(outcome)
    print(`${name}: ${outcome.text}`)
  }
  report(outcomes, print)
  const failed = outcomes.filter(({ isRunning }) => !isRunning)
  if (failed.length > 0) throw cliFailed({ reason: `${failed.length} of ${outcomes.length} functions do not run` })
}

async function importOne(job: {
  readonly target: Target
  readonly name: string
  readonly home: string
  readonly fence: string
  readonly set: ReadonlySet<string>
  readonly dryRun: boolean
  readonly imports: DenoImports | null
}): Promise<Outcome> {
  const { target, name, home, fence, set, dryRun, imports } = job
  const nothing = { name, hosts: [], unset: [], unsettable: [], unavailable: [] }
  try {
    for (const file of secretsFiles(home)) await assertInside(file, fence)
    const unavailable = readProjectRules(home)?.worker?.unavailable ?? []
    const upload = await readUpload(home, imports)
    for (const file of upload.inputs) await assertInside(file, fence)
    const own = await readOwnSecrets(home)
    const path = `/functions/${name}/secrets`
    const names = new Set([...set, ...(await setSecrets({ target, path, secrets: own, dryRun }))])
    for (const binding of readBindings(upload.policy.bindings)) names.add(binding.name)
    const { hosts, variables } = await wantsOf(upload.inputs, fence)
    const unset = variables.filter((each) => !names.has(each) && !GIVEN_VARIABLES.has(each))
    const facts = {
      hosts,
      unavailable,
      unset: unset.filter(isSecretName),
      unsettable: unset.filter((each) => !isSecretName(each)),
    }
    try {
      return { name, ...facts, isRunning: true, text: await sendUpload(target, name, upload, dryRun) }
    } catch (error) {
      return { name, ...facts, isRunning: false, text: whyNot(error) }
    }
  } catch (error) {
    return { ...nothing, isRunning: false, text: whyNot(error) }
  }
}

/** The functions of a folder, and the folders that are left out. */
async function functionsIn(root: string) {
  const isWorker = WRANGLER_FILES.some((file) => existsSync(join(root, file)))
  const left: { name: string; why: string }[] = []
  if (isWorker) {
    const name = readProjectRules(root)?.worker?.name ?? basename(root)
    if (!FUNCTION_NAME.test(name)) throw cliFailed({ reason: `'${name}' is no function name: A-Z, a-z, 0-9, - and _` })
    return { isWorker, functions: [[name, root]] as [string, string][], left }
  }
  const functions: [string, string][] = []
  for (const entry of await readdir(root, { withFileTypes: true })) {
    const home = join(root, entry.name)
    if (entry.isFile() || /^[_.]|^node_modules$/.test(entry.name)) continue
    const hasEntry = [...ENTRIES, ...WRANGLER_FILES].some((file) => existsSync(join(home, file)))
    if (!FUNCTION_NAME.test(entry.name)) {
      if (hasEntry)
        left.push({ name: entry.name, why: 'its name is not one of a function: A-Z, a-z, 0-9, - and _, at most 63' })
    } else if (!isEnabled(home)) left.push({ name: entry.name, why: 'config.toml turns it off' })
    else if (hasEntry || hasEntrypoint(home)) functions.push([entry.name, home])
    else left.push({ name: entry.name, why: `it has none of ${ENTRIES.join(', ')}` })
  }
  return { isWorker, functions: functions.toSorted(([a], [b]) => (a < b ? -1 : 1)), left }
}

function hasEntrypoint(home: string): boolean {
  try {
    return (readProjectRules(home)?.entrypoint ?? null) !== null
  } catch {
    // Its error is told when it is bundled.
    return true
  }
}

/** Sets secrets on the host; returns the names that are set there. */
async function setSecrets(job: {
  readonly target: Target
  readonly path: string
  readonly secrets: Readonly<Record<string, string>>
  readonly dryRun: boolean
}): Promise<readonly string[]> {
  const { target, path, dryRun } = job
  const secrets = Object.fromEntries(Object.entries(job.secrets).filter(([name]) => isSecretName(name)))
  const names = Object.keys(secrets)
  if (names.length > 0 && !dryRun) await callHost(target, 'PUT', path, secrets)
  const { data } = (await callHost(target, 'GET', path)) as { data: readonly { readonly name: string }[] }
  return [...data.map(({ name }) => name), ...names]
}

async function readSecrets(file: string, fence: string): Promise<Record<string, string>> {
  await assertInside(file, fence)
  return readEnvFile(file)
}

/** The folder that a project may read: its repository, or the folder that the project lies in. */
function fenceOf(folder: string): string {
  for (let at = folder; at !== dirname(at); at = dirname(at)) if (existsSync(join(at, '.git'))) return at
  const isProject = basename(folder) === 'supabase' || existsSync(join(folder, 'config.toml'))
  return isProject ? dirname(folder) : folder
}

/** @throws CLI_FAILED for a file that a link or a path leads outside to; packages may lie elsewhere */
async function assertInside(file: string, fence: string): Promise<void> {
  const real = await realpath(file).catch(() => file)
  if (real.startsWith(fence + sep) || /[\\/](?:node_modules|\.terrane)[\\/]/.test(real)) return
  throw cliFailed({ reason: `${file} lies outside of ${fence}, so it is not read` })
}

function whyNot(error: unknown): string {
  if (!(error instanceof TerraneError)) throw error
  const detail = error.details?.split('\n')[0] ?? ''
  return ['does not run', error.message, ...(error.message.includes(detail) ? [] : [detail])].join(': ')
}

function report(outcomes: readonly Outcome[], print: Print): void {
  print('')
  print(`${outcomes.filter(({ isRunning }) => isRunning).length} of ${outcomes.length} functions run.`)
  for (const { name, hosts, unset, unsettable, unavailable } of outcomes) {
    if (hosts.length > 0) print(`${name}: names the hosts ${hosts.join(', ')}`)
    if (unset.length > 0) print(`${name}: wants secrets that are not set: ${unset.join(', ')}`)
    if (unsettable.length > 0)
      print(`${name}: reads variables that only the host sets, and it does not: ${unsettable.join(', ')}`)
    for (const setting of unavailable) print(`${name}: is not offered here: ${setting}`)
  }
  if (outcomes.some(({ unset }) => unset.length > 0))
    print('Set secrets by `terrane functions secrets --env-file FILE`, with `--function NAME` for one function.')
}
