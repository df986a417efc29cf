import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import semver from 'semver'
import stripJsonComments from 'strip-json-comments'
import { bundleFailed } from '../errors.ts'
import { readSupabaseRules, supabaseConfigFile } from './supabase-config.ts'
import { readWorkspace } from './workspace.ts'

/** Settings of a function's `deno.json` (or that of the functions folder) for reading its code. */
export interface DenoJson {
  /** Import map: exact names, and prefixes that end in a slash. Relative places are absolute paths here. */
  readonly imports: Readonly<Record<string, string>>
  /** How JSX becomes calls; absent: `React.createElement`. */
  readonly jsx: { readonly jsx: 'automatic' | 'transform'; readonly jsxImportSource?: string } | null
  /** Bundler option for TypeScript's decorators; absent: standard decorators. */
  readonly tsconfigRaw: { readonly tsconfigRaw: { readonly compilerOptions: object } } | null
  /** True where decorators are to find the types of what they decorate (`emitDecoratorMetadata`). */
  readonly decoratorMetadata: boolean
  /** Absolute paths of configuration files outside the folder: those of a workspace. */
  readonly files: readonly string[]
}

const NAMES = ['deno.json', 'deno.jsonc', 'import_map.json'] as const
/** The bundler reads it by itself; what JSX imports has to be fetched, too. */
const TSCONFIG = 'tsconfig.json'

/** Configuration files for reading the function in a folder, existing or not. */
export function denoJsonFiles(folder: string): string[] {
  return [
    ...configFiles(folder, ['package.json', TSCONFIG, ...NAMES]),
    ...lockFiles(folder),
    supabaseConfigFile(folder),
    ...configuredMapIfAny(folder),
  ]
}

/** Places of the lock file for a function's imports. The nearer one takes precedence. */
export function lockFiles(folder: string): string[] {
  return [join(folder, 'deno.lock'), join(folder, '..', 'deno.lock')]
}

/** The import map that a Supabase project's `config.toml` names; it takes precedence. */
function configuredMap(folder: string): string[] {
  const importMap = readSupabaseRules(folder)?.importMap ?? null
  return importMap === null ? [] : [importMap]
}

/** The same for a list of inputs; what is wrong with the configuration is told when it is read. */
function configuredMapIfAny(folder: string): string[] {
  try {
    return configuredMap(folder)
  } catch {
    return []
  }
}

/** The nearer file comes last and takes precedence. */
function configFiles(folder: string, names: readonly string[]): string[] {
  return [join(folder, '..'), folder].flatMap((place) => names.map((name) => join(place, name)))
}

/**
 * Reads them: `imports`, `importMap`, `compilerOptions.jsx` and `experimentalDecorators`; the `dependencies` of a package.json, by their ranges; and the
 * automatic JSX runtime of a tsconfig.json where none of the others says how JSX is read.
 *
 * @throws FUNCTION_BUNDLE_FAILED for one that is not JSON
 */
export async function readDenoJson(folder: string): Promise<DenoJson> {
  const imports: Record<string, string> = {}
  let jsx: DenoJson['jsx'] = null
  let tsconfigRaw: DenoJson['tsconfigRaw'] = null
  for (const file of configFiles(folder, ['package.json'])) addDependencies(imports, await readJsonc(file))
  const workspace = await readWorkspace(folder, readJsonc)
  Object.assign(imports, workspace.imports)
  let decoratorMetadata = false
  for (const file of configFiles(folder, [TSCONFIG])) {
    const options = (await readJsonc(file).catch(() => null))?.compilerOptions
    decoratorMetadata ||= options?.emitDecoratorMetadata === true
    const found = jsxOf(options)
    if (found?.jsx === 'automatic') jsx = found
  }
  for (const file of [...configFiles(folder, NAMES), ...configuredMap(folder)]) {
    const config = await readJsonc(file)
    if (!config) continue
    if (typeof config.importMap === 'string') {
      const map = resolve(dirname(file), config.importMap)
      addImports(imports, (await readJsonc(map))?.imports, dirname(map))
    }
    addImports(imports, config.imports, dirname(file))
    jsx = jsxOf(config.compilerOptions) ?? jsx
    decoratorMetadata ||= config.compilerOptions?.emitDecoratorMetadata === true
    if (config.compilerOptions?.experimentalDecorators === true)
      tsconfigRaw = { tsconfigRaw: { compilerOptions: { experimentalDecorators: true } } }
  }
  return { imports, jsx, tsconfigRaw, decoratorMetadata, files: workspace.files }
}

export interface ConfigFile {
  readonly workspace?: unknown
  readonly workspaces?: unknown
  readonly name?: unknown
  readonly exports?: unknown
  readonly main?: unknown
  readonly module?: unknown
  readonly imports?: unknown
  readonly dependencies?: unknown
  readonly importMap?: unknown
  readonly compilerOptions?: {
    readonly jsx?: unknown
    readonly jsxImportSource?: unknown
    readonly experimentalDecorators?: unknown
    readonly emitDecoratorMetadata?: unknown
  }
}

async function readJsonc(file: string): Promise<ConfigFile | null> {
  const text = await readFile(file, 'utf8').catch(() => null)
  if (text === null) return null
  try {
    return JSON.parse(stripJsonComments(text, { trailingCommas: true })) as ConfigFile | null
  } catch (error) {
    throw bundleFailed({ problems: [`${file}: ${(error as Error).message}`] })
  }
}

function addImports(into: Record<string, string>, given: unknown, base: string): void {
  if (given === null || typeof given !== 'object') return
  for (const [name, target] of Object.entries(given)) {
    if (typeof target !== 'string') continue
    // A path relative to the import map, not to the importing file.
    into[name] = /^\.{0,2}\//.test(target) ? resolve(base, target) + (target.endsWith('/') ? '/' : '') : target
  }
}

/** Maps the dependencies of a package.json to package addresses. Local paths and other sources keep their names. */
function addDependencies(into: Record<string, string>, config: ConfigFile | null): void {
  for (const [name, range] of Object.entries(config?.dependencies ?? {})) {
    if (typeof range !== 'string' || semver.validRange(range) === null) continue
    into[name] = `npm:${name}@${range}`
    into[`${name}/`] = `npm:/${name}@${range}/`
  }
}

function jsxOf(options: ConfigFile['compilerOptions']): DenoJson['jsx'] {
  if (options?.jsx === 'react') return { jsx: 'transform' }
  if (options?.jsx !== 'react-jsx' && options?.jsx !== 'react-jsxdev' && options?.jsx !== 'precompile') return null
  const source = options.jsxImportSource
  return { jsx: 'automatic', ...(typeof source === 'string' && { jsxImportSource: source }) }
}
