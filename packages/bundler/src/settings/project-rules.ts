import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { bundleFailed } from '../errors.ts'
import { readConfigTables } from './config-tables.ts'
import { readWrangler, type WorkerSettings } from './wrangler.ts'

/** Settings of one function in a Supabase project's `config.toml` or a Worker's configuration; absolute paths. */
export interface ProjectRules {
  /** False: the function is not served. */
  readonly enabled: boolean
  /** True: callers need a key or token of the project. */
  readonly verifyJwt: boolean
  /** Null: the usual file of the function's folder. */
  readonly entrypoint: string | null
  readonly importMap: string | null
  /** Patterns of files that the function may read. */
  readonly staticFiles: readonly string[]
  /** Length of a chain of functions that it may take part in. Null: the default. */
  readonly maxChain: number | null
  /** Null: not a Worker. */
  readonly worker: WorkerSettings | null
}

/** Path of the `config.toml` for a function's folder: `supabase/config.toml` for `supabase/functions/{name}`. */
export function configTomlFile(folder: string): string {
  return join(folder, '..', '..', 'config.toml')
}

/**
 * The settings of a Worker, or of a Supabase project for the function in a folder; null where the folder is not part of
 * one. A config.toml also applies to a Worker: whether it is served, and who may call it.
 *
 * @throws FUNCTION_BUNDLE_FAILED for a file that is not TOML, or a field of another type
 */
export function readProjectRules(folder: string): ProjectRules | null {
  const worker = readWrangler(folder)
  const rules = readConfigToml(folder)
  if (!worker) return rules
  if (rules?.isNamed) return { ...rules, entrypoint: rules.entrypoint ?? worker.entrypoint, worker }
  return {
    enabled: true,
    verifyJwt: false,
    entrypoint: worker.entrypoint,
    importMap: null,
    staticFiles: [],
    maxChain: null,
    worker,
  }
}

/** The rules, and whether the file names the function. */
function readConfigToml(folder: string): (ProjectRules & { readonly isNamed: boolean }) | null {
  const file = configTomlFile(folder)
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch {
    return null
  }
  const home = dirname(file)
  let config: Record<string, unknown>
  try {
    config = readConfigTables(text)
  } catch (error) {
    // Other programs have a file of this name, in other forms.
    if (basename(home) !== 'supabase') return null
    throw bundleFailed({ problems: [`config.toml: ${(error as Error).message}`] })
  }
  if (basename(home) !== 'supabase' && typeof config['project_id'] !== 'string') return null
  const table = tableOf(config['functions'])[basename(folder)]
  return { ...functionOf(tableOf(table), basename(folder), home), isNamed: table !== undefined }
}

function functionOf(table: Readonly<Record<string, unknown>>, name: string, home: string): ProjectRules {
  const wrong = (field: string, wanted: string) =>
    bundleFailed({ problems: [`config.toml: functions.${name}.${field} must be ${wanted}`] })
  const flag = (field: string): boolean => {
    const value = table[field] ?? true
    if (typeof value !== 'boolean') throw wrong(field, 'true or false')
    return value
  }
  const path = (field: string): string | null => {
    const value = table[field] ?? ''
    if (typeof value !== 'string') throw wrong(field, 'a path')
    return value === '' ? null : resolve(home, value)
  }
  const files = table['static_files'] ?? []
  if (!Array.isArray(files) || !files.every((each) => typeof each === 'string'))
    throw wrong('static_files', 'a list of paths')
  const maxChain = table['max_chain'] ?? null
  if (maxChain !== null && !(Number.isSafeInteger(maxChain) && (maxChain as number) > 0))
    throw wrong('max_chain', 'a whole number above 0')
  return {
    enabled: flag('enabled'),
    verifyJwt: flag('verify_jwt'),
    entrypoint: path('entrypoint'),
    importMap: path('import_map'),
    staticFiles: files.map((each) => resolve(home, each)),
    maxChain: maxChain as number | null,
    worker: null,
  }
}

function tableOf(value: unknown): Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {}
}
