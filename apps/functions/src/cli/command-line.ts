import { parseArgs, type ParseArgsConfig } from 'node:util'
import { TerraneError } from '@terrane/core'
import { cliFailed } from '../errors.ts'
import { openImports } from '../build/open-imports.ts'
import type { Print, Target } from './client.ts'
import {
  deploy,
  importFolder,
  listFunctions,
  newFunction,
  removeFunctions,
  renameFunction,
  rollback,
  secrets,
  serveEnvironment,
  showLogs,
} from './commands.ts'
import { testFunction } from './test-function.ts'

const HELP = `Usage: terrane functions <command> [options]

  new <name>            make functions/<name>/ with an index.ts and a function.json
                          --auth none|anon|user|service   who may call it (anon)
  serve                 serve the folder and follow its files
                          --port <port>                   (8001)
  deploy [name ...]     bundle functions and send them to a host; all of the folder without a name
                          --prune                         remove from the host what the folder no longer has
                          --dry-run                       check everything, change nothing
                          --strict                        errors of types fail it, before anything is sent
  import <folder>       deploy a Supabase project or a Worker as it is, with its secrets, and report what runs
                          --dry-run                       check everything, change nothing
  list                  list the functions of a host, with their versions
  delete <name> ...     remove functions from a host, with their versions and secrets
  rename <name> <new>   give a function another name, with its versions, secrets, hooks and state
  rollback <name>       let the version before answer again
                          --to <version>                  or this one
  logs <name>           show the log of a function
                          --follow                        and go on
                          --limit <lines>                 (100)
                          --search <text>                 entries with this text alone
  test <name>           send a request to a function; print its answer and its log
                          --request <file>                JSON with method, path, headers and body
                          --method, --path, --header 'Name: value', --body
                          --as anon|service|none          whose key is sent (anon)
                          --status <status>               the answer must have it; any below 400 unless given
  secrets               list secrets; values never come back
                          --env-file <file>               set those of a file
                          --unset <NAME>                  take one away
                          --function <name>               of one function instead of the project

Everywhere:
  --dir <folder>        the functions folder (functions)
  --url <address>       the host (TERRANE_FUNCTIONS_URL, or that of the local stack)
  --project <ref>       the project (TERRANE_PROJECT_REF, or local)
  --help

The key for deploy, import, list, delete, rename, rollback, logs, test and secrets is the project's service-role key, in TERRANE_SERVICE_ROLE_KEY.
`

const OPTIONS = {
  as: { type: 'string', default: 'anon' },
  auth: { type: 'string', default: 'anon' },
  body: { type: 'string' },
  dir: { type: 'string', default: 'functions' },
  'dry-run': { type: 'boolean', default: false },
  'env-file': { type: 'string' },
  follow: { type: 'boolean', default: false },
  function: { type: 'string' },
  header: { type: 'string', multiple: true, default: [] },
  help: { type: 'boolean', default: false },
  limit: { type: 'string', default: '100' },
  method: { type: 'string' },
  path: { type: 'string' },
  port: { type: 'string', default: '8001' },
  project: { type: 'string' },
  prune: { type: 'boolean', default: false },
  request: { type: 'string' },
  search: { type: 'string' },
  status: { type: 'string' },
  strict: { type: 'boolean', default: false },
  to: { type: 'string' },
  unset: { type: 'string', multiple: true, default: [] },
  url: { type: 'string' },
} as const satisfies ParseArgsConfig['options']

/** Environment and outputs of a command line. */
export interface CommandContext {
  /** Environment variables with addresses and keys; `serve` adds generated ones. */
  readonly env: NodeJS.ProcessEnv
  readonly print: Print
  readonly printError: Print
  /** Opens the fetcher of imports; default: `openImports`. */
  readonly openImports?: typeof openImports
}

/**
 * Runs a command line and returns its exit code. Errors of the caller are printed.
 *
 * @param args without the program's name
 */
export async function runCommandLine(args: readonly string[], context: CommandContext): Promise<number> {
  try {
    await run([...args], context)
    return 0
  } catch (error) {
    if (!(error instanceof TerraneError) && !isUsage(error)) throw error
    context.printError(`terrane: ${error.message}`)
    if (error instanceof TerraneError && error.details) context.printError(error.details)
    if (error instanceof TerraneError && error.hint) context.printError(error.hint)
    return 1
  }
}

async function run(args: string[], { env, print, openImports: open = openImports }: CommandContext): Promise<void> {
  const { values, positionals } = parseArgs({ args, options: OPTIONS, allowPositionals: true })
  const [area, command, ...names] = positionals
  if (values.help || area === undefined || (area === 'functions' && command === undefined)) return print(HELP)
  if (area !== 'functions') throw cliFailed({ reason: `unknown command '${area}'; see terrane --help` })
  const one = () => {
    if (names.length === 1) return names[0]!
    throw cliFailed({ reason: `${command} takes the name of one function` })
  }
  switch (command) {
    case 'new':
      return newFunction(values.dir, one(), values.auth, print)
    case 'serve': {
      const served = await serveEnvironment(env, values.dir, values.port, print)
      for (const [name, value] of Object.entries(served)) if (value !== undefined) env[name] = value
      await import('../main.ts')
      return
    }
    case 'deploy':
      return deploy(target(values, env), values.dir, names, {
        prune: values.prune,
        dryRun: values['dry-run'],
        strict: values.strict,
        openImports: open,
        env,
        print,
      })
    case 'import':
      if (names.length !== 1) throw cliFailed({ reason: 'import takes a folder, such as supabase/' })
      return importFolder(target(values, env), names[0]!, { dryRun: values['dry-run'], openImports: open, env, print })
    case 'list':
      return listFunctions(target(values, env), print)
    case 'delete':
      if (names.length === 0) throw cliFailed({ reason: 'delete takes the names of functions' })
      return removeFunctions(target(values, env), names, print)
    case 'rename':
      return renameFunction(target(values, env), names, print)
    case 'rollback':
      return rollback(target(values, env), one(), values.to === undefined ? null : Number(values.to), print)
    case 'logs': {
      const leaving = new AbortController()
      const leave = () => leaving.abort()
      process.once('SIGINT', leave)
      return showLogs(target(values, env), one(), { ...values, print, signal: leaving.signal }).finally(() => {
        process.off('SIGINT', leave)
      })
    }
    case 'test':
      return testFunction(target(values, env), one(), { ...values, env, print })
    case 'secrets':
      return secrets(target(values, env), { of: values.function, file: values['env-file'], unset: values.unset }, print)
    default:
      throw cliFailed({ reason: `unknown command '${command}'; see terrane --help` })
  }
}

function target(given: { readonly url?: string; readonly project?: string }, env: NodeJS.ProcessEnv): Target {
  const key = env['TERRANE_SERVICE_ROLE_KEY']
  if (!key) throw cliFailed({ reason: 'TERRANE_SERVICE_ROLE_KEY is not set' })
  // There is no default address, so that the key is not sent to another program on a default port.
  const url = given.url ?? env['TERRANE_FUNCTIONS_URL']
  if (!url) throw cliFailed({ reason: 'the host is not known: no local stack runs here; set TERRANE_FUNCTIONS_URL' })
  return { url, project: given.project ?? env['TERRANE_PROJECT_REF'] ?? 'local', key }
}

/** An option that does not exist, or lacks its value. */
function isUsage(error: unknown): error is Error {
  return error instanceof Error && String((error as { code?: string }).code).startsWith('ERR_PARSE_ARGS')
}
