import { randomBytes } from 'node:crypto'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { splitList } from '@terrane/core'
import { DEFAULT_IMPORT_HOSTS, bundleFolder, withImports, type DenoImports } from '@terrane/bundler'
import type { openImports } from '../build/open-imports.ts'
import { cliFailed } from '../errors.ts'
import type { LogEntry } from '../observe/log-book.ts'
import { FUNCTION_NAME, parsePolicy } from '../policy.ts'
import { isEnabled, readEnvFile } from '../sources/function-folder.ts'
import { callHost, readLines, type Print, type Target } from './client.ts'
import { importProject } from './import-project.ts'
import { printed } from './shown-entry.ts'
import { readUpload, sendUpload } from './upload.ts'

/** Makes the folder of a new function. @throws CLI_FAILED for an invalid name, or if the folder exists */
export async function newFunction(root: string, name: string, auth: string, print: Print): Promise<void> {
  if (!FUNCTION_NAME.test(name))
    throw cliFailed({ reason: `'${name}' is not a function name: A-Z, a-z, 0-9, - and _, at most 63` })
  parsePolicy({ auth })
  const folder = join(root, name)
  if (await stat(folder).catch(() => null)) throw cliFailed({ reason: `${folder} is there already` })
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'index.ts'), TEMPLATE.replaceAll('NAME', name))
  await writeFile(join(folder, 'function.json'), `${JSON.stringify({ auth, methods: ['POST'] }, null, 2)}\n`)
  print(`made ${folder}/index.ts and ${folder}/function.json`)
  print(`serve it:  terrane functions serve --dir ${root}`)
}

const TEMPLATE = `// POST {origin}/functions/v1/NAME
export default {
  async fetch(request: Request, ctx: { requestId: string }): Promise<Response> {
    const { name = 'world' } = (await request.json().catch(() => ({}))) as { name?: string }
    console.log('greeting', name)
    return Response.json({ message: \`Hello \${name}, this is NAME\`, request_id: ctx.requestId })
  },
}
`

/** The environment of a host that serves a folder; keys that are not given are made for this run. */
export async function serveEnvironment(
  given: Readonly<Record<string, string | undefined>>,
  root: string,
  port: string,
  print: Print,
): Promise<Record<string, string | undefined>> {
  const env: Record<string, string | undefined> = { ...given, TERRANE_FUNCTIONS_DIR: resolve(root), PORT: port }
  // A host that `serve` starts uses its origin only for functions.
  env['TERRANE_FUNCTIONS_OWN_ORIGIN'] ??= 'true'
  env['TERRANE_JWT_SECRET'] ??= randomBytes(32).toString('hex')
  const ref = (env['TERRANE_PROJECT_REF'] ??= 'local')
  const year = 365 * 24 * 3600
  const { signToken } = await import('@terrane/auth')
  for (const [name, role] of [
    ['TERRANE_ANON_KEY', 'anon'],
    ['TERRANE_SERVICE_ROLE_KEY', 'service_role'],
  ] as const) {
    if (env[name]) continue
    env[name] = await signToken({ iss: 'terrane', ref, role }, env['TERRANE_JWT_SECRET'], year)
    print(`${name}=${env[name]}`)
  }
  return env
}

/** Bundles functions on the machine that has their packages, and sends them to a host. */
export async function deploy(
  target: Target,
  root: string,
  names: readonly string[],
  options: {
    readonly prune: boolean
    readonly dryRun: boolean
    readonly strict: boolean
    readonly openImports: typeof openImports
    readonly env: NodeJS.ProcessEnv
    readonly print: Print
  },
): Promise<void> {
  const { env, print } = options
  const all = await functionNames(root)
  const present = all.filter((name) => isEnabled(join(root, name)))
  const imports = await options.openImports(resolve('.terrane', 'functions', 'imports'), importHosts(env), env)
  for (const name of names) {
    if (!all.includes(name)) throw cliFailed({ reason: `there is no ${join(root, name)}` })
    if (!present.includes(name)) throw cliFailed({ reason: `config.toml turns off ${name}: set enabled = true there` })
  }
  const wanted = names.length > 0 ? names : present
  if (names.length === 0)
    for (const name of all) if (!present.includes(name)) print(`${name}: left out, config.toml turns it off`)
  if (options.strict) await refuseTypeErrors(root, wanted, imports)
  for (const name of wanted) {
    const upload = await readUpload(join(root, name), imports)
    print(`${name}: ${await sendUpload(target, name, upload, options.dryRun)}`)
    for (const warning of upload.warnings) print(`${name}: warning: ${warning}`)
  }
  if (!options.strict) await warnOfTypes(root, wanted, imports, print)
  if (all.length === 0) print(`there is no function in ${root}`)
  if (options.prune && names.length === 0) await prune(target, present, options.dryRun, print)
}

/** Deploys a whole project as it is; see {@link importProject}. */
export async function importFolder(
  target: Target,
  folder: string,
  options: {
    readonly dryRun: boolean
    readonly openImports: typeof openImports
    readonly env: NodeJS.ProcessEnv
    readonly print: Print
  },
): Promise<void> {
  const { env, dryRun, print } = options
  const cache = resolve('.terrane', 'functions', 'imports')
  const imports = await options.openImports(cache, importHosts(env), env)
  await importProject(target, folder, { dryRun, imports, cache, print })
}

/** @throws CLI_FAILED with all type errors of the functions, before anything is sent */
async function refuseTypeErrors(root: string, names: readonly string[], imports: DenoImports | null): Promise<void> {
  if (!imports) throw cliFailed({ reason: '--strict looks at types with Deno, which this machine does not have' })
  const problems: string[] = []
  for (const name of names) {
    const folder = join(root, name)
    // Only functions on disk have types to check.
    await withImports(
      (fetched) => bundleFolder(folder, fetched),
      () => imports.fetch(folder),
    )
    const { errors, unchecked } = await imports.types(folder)
    problems.push(
      ...[...errors, ...(unchecked === null ? [] : [`types cannot be looked at: ${unchecked}`])].map(
        (line) => `${name}: ${line}`,
      ),
    )
  }
  if (problems.length > 0) throw cliFailed({ reason: `--strict, and types are wrong:\n${problems.join('\n')}` })
}

/** Runs after everything is sent, so it delays nothing. */
async function warnOfTypes(
  root: string,
  names: readonly string[],
  imports: DenoImports | null,
  print: Print,
): Promise<void> {
  for (const name of imports ? names : []) {
    const { errors, unchecked } = await imports!.types(join(root, name))
    for (const error of errors) print(`${name}: warning: ${error}`)
    if (unchecked !== null) print(`${name}: types not looked at: ${unchecked}`)
  }
}

/** Removes the functions from the host that are not in the folder. */
async function prune(target: Target, present: readonly string[], dryRun: boolean, print: Print): Promise<void> {
  const { data } = (await callHost(target, 'GET', '/functions')) as { data: { name: string; version: number }[] }
  for (const { name, version } of data) {
    if (version === 0 || present.includes(name)) continue
    if (!dryRun) await callHost(target, 'DELETE', `/functions/${name}`)
    print(`${name}: ${dryRun ? 'would be removed' : 'removed'}`)
  }
}

/** Prints the functions of a project: name, version, who may call it, and since when. */
export async function listFunctions(target: Target, print: Print): Promise<void> {
  const { data } = (await callHost(target, 'GET', '/functions')) as { data: readonly ListedFunction[] }
  for (const { name, version, policy, created_at: since, problem } of data.toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  ))
    print(
      [name, `version ${version}`, policy.auth, since ?? 'from a folder', ...(problem ? [problem.message] : [])].join(
        '  ',
      ),
    )
}

interface ListedFunction {
  readonly name: string
  readonly version: number
  readonly policy: { readonly auth: string }
  readonly created_at: string | null
  readonly problem: { readonly message: string } | null
}

/** Removes functions from the host; one that it does not have is an error. */
export async function removeFunctions(target: Target, names: readonly string[], print: Print): Promise<void> {
  for (const name of names) {
    await callHost(target, 'DELETE', `/functions/${encodeURIComponent(name)}`)
    print(`${name}: removed`)
  }
}

/** Renames a function. @throws CLI_FAILED unless there are two names */
export async function renameFunction(target: Target, names: readonly string[], print: Print): Promise<void> {
  const [name = '', to = ''] = names
  if (names.length !== 2) throw cliFailed({ reason: 'rename takes the name of a function and its new one' })
  await callHost(target, 'POST', `/functions/${encodeURIComponent(name)}/rename`, { to })
  print(`${name}: is ${to} now`)
}

export async function rollback(target: Target, name: string, version: number | null, print: Print): Promise<void> {
  const body = version === null ? {} : { version }
  const result = (await callHost(target, 'POST', `/functions/${name}/rollback`, body)) as { version: number }
  print(`${name}: version ${result.version} answers`)
}

export async function showLogs(
  target: Target,
  name: string,
  options: {
    readonly follow: boolean
    readonly limit: string
    readonly search?: string | undefined
    readonly print: Print
    readonly signal: AbortSignal
  },
): Promise<void> {
  const { print, signal } = options
  const query = new URLSearchParams({ limit: options.limit, follow: String(options.follow) })
  if (options.search !== undefined) query.set('search', options.search)
  try {
    for await (const line of readLines(target, `/functions/${name}/logs?${String(query)}`, signal))
      print(printed(JSON.parse(line) as LogEntry))
  } catch (error) {
    if (!signal.aborted) throw error
  }
}

/** Lists, sets from a file, or takes away secrets of the project or of one function. */
export async function secrets(
  target: Target,
  options: { readonly of: string | undefined; readonly file: string | undefined; readonly unset: readonly string[] },
  print: Print,
): Promise<void> {
  const path = options.of === undefined ? '/secrets' : `/functions/${options.of}/secrets`
  const changes: Record<string, string | null> = options.file === undefined ? {} : await readEnvFile(options.file)
  for (const name of options.unset) changes[name] = null
  if (Object.keys(changes).length > 0) await callHost(target, 'PUT', path, changes)
  const { data } = (await callHost(target, 'GET', path)) as { data: { name: string; updated_at: string }[] }
  for (const { name, updated_at: at } of data) print(`${name}  (set ${at})`)
}

function importHosts(env: NodeJS.ProcessEnv): readonly string[] {
  return splitList(env['TERRANE_FUNCTIONS_IMPORT_HOSTS'] ?? DEFAULT_IMPORT_HOSTS.join(','))
}

async function functionNames(root: string): Promise<string[]> {
  const entries = await readdir(root, { withFileTypes: true }).catch(() => {
    throw cliFailed({ reason: `there is no folder ${root}` })
  })
  const folders = entries.filter((entry) => !entry.isFile() && FUNCTION_NAME.test(entry.name))
  return folders
    .map((entry) => entry.name)
    .filter((name) => name !== 'node_modules')
    .toSorted()
}
