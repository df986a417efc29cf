import { existsSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'
import { ENTRIES, WRANGLER_FILES, readProjectRules, type DenoImports } from '@terrane/bundler'
import { TerraneError } from '@terrane/core'
import { isSecretName, readBindings } from '../bindings.ts'
import { GIVEN_VARIABLES } from '../environment.ts'
import { cliFailed } from '../errors.ts'
import { FUNCTION_NAME } from '../policy.ts'
import { isReservedBinding } from '../sources/folder-policy.ts'
import { isEnabled, readEnvFile, readOwnSecrets, secretsFiles } from '../sources/function-folder.ts'
import { functionsRootOf } from '../sources/functions-root.ts'
import { callHost, type Print, type Target } from './client.ts'
import { readUpload, sendUpload, type Upload } from './upload.ts'
import { wantsOf } from './wants.ts'

interface Outcome {
  readonly name: string
  readonly isRunning: boolean
  /** Result of the function's import, or the reason why it does not run. */
  readonly text: string
  readonly hosts: readonly string[]
  /** Variables that it reads and that are not set. */
  readonly unset: readonly string[]
  /** Variables that it reads and that only the host may set, but does not. */
  readonly unsettable: readonly string[]
  /** Settings of a Worker that have no counterpart. */
  readonly unavailable: readonly string[]
  /** Differences between its files and the imported function. */
  readonly notes: readonly string[]
}

interface ImportOptions {
  readonly dryRun: boolean
  readonly imports: DenoImports | null
  /** Folder where `imports` keeps what it fetches. */
  readonly cache: string
  readonly print: Print
}

/** A function that could be bundled. */
interface Prepared extends Omit<Outcome, 'isRunning' | 'text' | 'unset' | 'unsettable'> {
  readonly upload: Upload
  readonly own: Readonly<Record<string, string>>
  readonly variables: readonly string[]
}

/**
 * Deploys the functions of a Supabase project, of a Worker or of a folder of Workers as they are, with the secrets of
 * their `.env` files. It reports which functions run, which hosts and secrets each needs, and why others do not run.
 * The failure of one function does not stop the others.
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
  const fence = await openFence(folder, options.cache)
  const isSupabase = basename(dirname(root)) === 'supabase' || existsSync(join(root, '..', 'config.toml'))
  const shared = isSupabase && !found.isWorker ? await readSecrets(join(root, '.env'), fence) : {}
  const prepared: (Prepared | Outcome)[] = []
  for (const [name, home] of found.functions)
    prepared.push(await prepare({ name, home, fence, imports: options.imports }))
  const runs = prepared.some((each) => 'upload' in each)
  const set = new Set(runs ? await setSecrets({ target, name: null, secrets: shared, dryRun, print }) : [])
  const outcomes: Outcome[] = []
  for (const each of prepared) {
    const outcome = 'upload' in each ? await send(target, each, set, options) : each
    outcomes.push(outcome)
    print(`${outcome.name}: ${outcome.text}`)
  }
  report(outcomes, print)
  const failed = outcomes.filter(({ isRunning }) => !isRunning)
  if (failed.length > 0) throw cliFailed({ reason: `${failed.length} of ${outcomes.length} functions do not run` })
}

async function prepare(job: {
  readonly name: string
  readonly home: string
  readonly fence: Fence
  readonly imports: DenoImports | null
}): Promise<Prepared | Outcome> {
  const { name, home, fence, imports } = job
  try {
    for (const file of secretsFiles(home)) await assertInside(file, fence)
    const worker = readProjectRules(home)?.worker
    const upload = await readUpload(home, imports)
    for (const file of upload.inputs) await assertInside(file, fence)
    const own = await readOwnSecrets(home)
    const { hosts, variables } = await wantsOf(upload.inputs, fence.folder)
    const reserved = (worker?.bindings ?? []).filter(isReservedBinding).map((binding) => `${binding.split('=', 1)[0]}`)
    const replaced = readBindings(upload.policy.bindings)
      .filter((binding) => binding.kind !== 'var' && binding.name in own)
      .map((binding) => `its secret ${binding.name} is not used: a binding has the name`)
    const notes = [
      ...(worker?.notes ?? []),
      ...reserved.map((each) => `only the host sets ${each}`),
      ...replaced,
      ...upload.warnings,
    ]
    return { name, upload, own, hosts, variables, notes, unavailable: worker?.unavailable ?? [] }
  } catch (error) {
    const nothing = { hosts: [], unset: [], unsettable: [], unavailable: [], notes: [] }
    return { name, ...nothing, isRunning: false, text: whyNot(error) }
  }
}

async function send(
  target: Target,
  { upload, own, variables, ...facts }: Prepared,
  shared: ReadonlySet<string>,
  { dryRun, print }: ImportOptions,
): Promise<Outcome> {
  const { name } = facts
  let unset: string[] = []
  const outcome = (isRunning: boolean, text: string): Outcome => ({
    ...facts,
    isRunning,
    text,
    unset: unset.filter(isSecretName),
    unsettable: unset.filter((each) => !isSecretName(each)),
  })
  try {
    const names = new Set([...shared, ...(await setSecrets({ target, name, secrets: own, dryRun, print }))])
    for (const binding of readBindings(upload.policy.bindings)) names.add(binding.name)
    unset = variables.filter((each) => !names.has(each) && !GIVEN_VARIABLES.has(each))
    return outcome(true, await sendUpload(target, name, upload, dryRun))
  } catch (error) {
    return outcome(false, whyNot(error))
  }
}

/** The functions of a folder, and the folders that are left out. */
async function functionsIn(root: string) {
  const isWorker = WRANGLER_FILES.some((file) => existsSync(join(root, file)))
  const left: { name: string; why: string }[] = []
  if (isWorker) {
    const name = readProjectRules(root)?.worker?.name ?? basename(root)
    if (!FUNCTION_NAME.test(name))
      throw cliFailed({ reason: `'${name}' is not a function name: A-Z, a-z, 0-9, - and _` })
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
    // Bundling reports the error.
    return true
  }
}

/**
 * Sets secrets on the host and prints their names; returns all names that are set there.
 *
 * @param job `name`: null for those of the project
 */
async function setSecrets(job: {
  readonly target: Target
  readonly name: string | null
  readonly secrets: Readonly<Record<string, string>>
  readonly dryRun: boolean
  readonly print: Print
}): Promise<readonly string[]> {
  const { target, name, dryRun, print } = job
  const path = name === null ? '/secrets' : `/functions/${name}/secrets`
  const secrets = Object.fromEntries(Object.entries(job.secrets).filter(([each]) => isSecretName(each)))
  const names = Object.keys(secrets)
  const { data } = (await callHost(target, 'GET', path)) as { data: readonly { readonly name: string }[] }
  const known = data.map((each) => each.name)
  const say = (what: string, listed: readonly string[]) => {
    const whose = name === null ? 'secrets of the project' : `${name}: secrets`
    if (listed.length > 0) print(`${whose} ${what}: ${listed.join(', ')}`)
  }
  const isReplaced = (each: string) => known.includes(each)
  const would = dryRun ? 'that would be ' : ''
  say(
    `${would}set`,
    names.filter((each) => !isReplaced(each)),
  )
  say(`${would}replaced`, names.filter(isReplaced))
  say(
    'not taken, which only the host sets or whose names are none',
    Object.keys(job.secrets).filter((each) => !isSecretName(each)),
  )
  if (names.length > 0 && !dryRun) await callHost(target, 'PUT', path, secrets)
  return [...known, ...names]
}

async function readSecrets(file: string, fence: Fence): Promise<Record<string, string>> {
  await assertInside(file, fence)
  return readEnvFile(file)
}

/** Files that a project may read. */
interface Fence {
  /** The repository of the project, or the folder above it. */
  readonly folder: string
  /** Folders of packages outside of it that its imports resolve to. */
  readonly packages: readonly string[]
}

async function openFence(folder: string, cache: string): Promise<Fence> {
  const own = fenceOf(folder)
  const packages = [cache]
  // Folders in the fence may be links of the project itself.
  for (let at = own; at !== dirname(at);) {
    at = dirname(at)
    packages.push(join(at, 'node_modules'))
  }
  const real = await Promise.all(packages.map((each) => realpath(each).catch(() => null)))
  return { folder: own, packages: real.filter((each) => each !== null) }
}

function fenceOf(folder: string): string {
  for (let at = folder; at !== dirname(at); at = dirname(at)) if (existsSync(join(at, '.git'))) return at
  const isProject = basename(folder) === 'supabase' || existsSync(join(folder, 'config.toml'))
  return isProject ? dirname(folder) : folder
}

/** @throws CLI_FAILED for a file outside of the fence, reached by a link or a path; files of packages are allowed */
async function assertInside(file: string, { folder, packages }: Fence): Promise<void> {
  const real = await realpath(file).catch(() => file)
  if ([folder, ...packages].some((each) => real.startsWith(each + sep))) return
  throw cliFailed({ reason: `${file} is outside of ${folder}, so it is not read` })
}

function whyNot(error: unknown): string {
  if (!(error instanceof TerraneError)) throw error
  const detail = error.details?.split('\n')[0] ?? ''
  return ['does not run', error.message, ...(error.message.includes(detail) ? [] : [detail])].join(': ')
}

function report(outcomes: readonly Outcome[], print: Print): void {
  print('')
  print(`${outcomes.filter(({ isRunning }) => isRunning).length} of ${outcomes.length} functions run.`)
  for (const { name, hosts, unset, unsettable, unavailable, notes } of outcomes) {
    if (hosts.length > 0) print(`${name}: names the hosts ${hosts.join(', ')}`)
    if (unset.length > 0) print(`${name}: wants secrets that are not set: ${unset.join(', ')}`)
    if (unsettable.length > 0)
      print(`${name}: reads variables that only the host sets, and it does not: ${unsettable.join(', ')}`)
    for (const setting of unavailable) print(`${name}: is not offered here: ${setting}`)
    for (const note of notes) print(`${name}: ${note}`)
  }
  if (outcomes.some(({ unset }) => unset.length > 0))
    print('Set secrets by `terrane functions secrets --env-file FILE`, with `--function NAME` for one function.')
}
