import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { importsOfPaths, readCompilerOptions, type CompilerSettings } from './compiler-options.ts'
import { configTomlFile, readProjectRules } from './project-rules.ts'
import { entryOf } from './entry.ts'
import { readJsonFile } from './json-file.ts'
import { importsOfDependencies } from './package-json.ts'
import { readWorkspace, type Workspace } from './workspace.ts'
import { WRANGLER_FILES } from './wrangler.ts'

/** Settings for reading the code of a function, from all configuration files of its folder and of the folder above. */
export interface CodeSettings extends CompilerSettings {
  /** The file that the function begins with, relative to its folder. */
  readonly entry: string
  /** Import map: exact names, and prefixes that end in a slash. Relative places are absolute paths here. */
  readonly imports: Readonly<Record<string, string>>
  /** Absolute paths of configuration files outside the folder: those of a workspace, and each package.json above in the repository. */
  readonly files: readonly string[]
}

const MAPS = ['deno.json', 'deno.jsonc', 'import_map.json'] as const
/** The bundler reads it itself; it is also read here, e.g. for the JSX runtime, which has to be fetched. */
const TSCONFIG = 'tsconfig.json'

/** Configuration files for reading the function in a folder, existing or not; absolute paths. */
export function settingsFiles(folder: string): string[] {
  return [
    ...nearerLast(folder, ['package.json', TSCONFIG, ...MAPS]),
    ...lockFiles(folder),
    configTomlFile(folder),
    ...WRANGLER_FILES.map((name) => join(folder, name)),
    ...configuredMapIfAny(folder),
  ]
}

/** Places of the lock file for a function's imports. The nearer one takes precedence. */
export function lockFiles(folder: string): string[] {
  return [join(folder, 'deno.lock'), join(folder, '..', 'deno.lock')]
}

/**
 * Reads the settings of a folder: the entry, `imports`, `importMap` and `compilerOptions`; the `dependencies` of a
 * package.json, by their ranges; `paths` of a tsconfig.json, and its automatic JSX runtime if no other file configures JSX.
 *
 * @throws FUNCTION_BUNDLE_FAILED for a file of another format than its name, and without an entry
 */
export async function readCodeSettings(folder: string): Promise<CodeSettings> {
  const project = readProjectRules(folder)
  const entry = await entryOf(folder, project)
  const imports: Record<string, string> = {}
  const workspace = await readWorkspace(folder)
  Object.assign(imports, await importsOfMembers(folder, workspace))
  const above = packagesAbove(resolve(folder))
  // As in Node, a source beside the function's folder finds the packages that are installed above it.
  for (const file of above) {
    const dependencies = (await readJsonFile(file).catch(() => null))?.dependencies
    Object.assign(imports, await importsOfDependencies({ dependencies }, folder, workspace))
  }
  const ofRoot = workspace.root === null ? [] : [join(workspace.root, 'package.json')]
  for (const file of new Set([...ofRoot, ...nearerLast(folder, ['package.json'])]))
    Object.assign(imports, await importsOfFile(file, folder, workspace))
  Object.assign(imports, workspace.imports)
  let { jsx, experimentalDecorators, decoratorMetadata } = readCompilerOptions(null)
  for (const file of nearerLast(folder, [TSCONFIG])) {
    const tsconfig = await readJsonFile(file).catch(() => null)
    const options = readCompilerOptions(tsconfig)
    Object.assign(imports, absoluteImports(importsOfPaths(tsconfig), dirname(file)))
    decoratorMetadata ||= options.decoratorMetadata
    if (options.jsx?.jsx === 'automatic') jsx = options.jsx
  }
  for (const file of [...nearerLast(folder, MAPS), ...(project?.importMap == null ? [] : [project.importMap])]) {
    const settings = await readJsonFile(file)
    if (!settings) continue
    if (typeof settings.importMap === 'string') {
      const map = resolve(dirname(file), settings.importMap)
      Object.assign(imports, absoluteImports((await readJsonFile(map))?.imports, dirname(map)))
    }
    Object.assign(imports, absoluteImports(settings.imports, dirname(file)))
    const options = readCompilerOptions(settings)
    jsx = options.jsx ?? jsx
    decoratorMetadata ||= options.decoratorMetadata
    experimentalDecorators ||= options.experimentalDecorators
  }
  return {
    entry,
    imports,
    jsx,
    experimentalDecorators,
    decoratorMetadata,
    files: [...above, ...ofRoot, ...workspace.files],
  }
}

/** Every package.json above the parent of a folder that is in the folder's repository, the nearest last. */
function packagesAbove(folder: string): string[] {
  const parent = dirname(folder)
  const above = dirname(parent)
  if (above === parent || [folder, parent].some((place) => existsSync(join(place, '.git')))) return []
  const file = join(above, 'package.json')
  return [...packagesAbove(parent), ...(existsSync(file) ? [file] : [])]
}

/** Import map of a package.json. One above the function is also that of the sources beside the function. */
async function importsOfFile(file: string, folder: string, { catalogs }: Workspace): Promise<Record<string, string>> {
  const sources = dirname(file) === dirname(folder) ? dirname(file) : folder
  return importsOfDependencies(await readJsonFile(file), folder, { catalogs, sources })
}

/** Import map of the dependencies of the workspace's members that a function needs, and of their members in turn. */
async function importsOfMembers(folder: string, { members, catalogs }: Workspace): Promise<Record<string, string>> {
  const imports: Record<string, string> = {}
  const own = await readJsonFile(join(folder, 'package.json'))
  const names = new Set(Object.keys({ ...(own?.devDependencies as object), ...(own?.dependencies as object) }))
  // Names that are added meanwhile are visited, too.
  for (const name of names) {
    const dependencies = members.get(name)?.dependencies
    Object.assign(imports, await importsOfDependencies({ dependencies }, folder, { catalogs }))
    for (const needed of Object.keys({ ...(dependencies as object) })) names.add(needed)
  }
  return imports
}

/** The import map in `config.toml`; errors of a broken config are reported elsewhere. */
function configuredMapIfAny(folder: string): string[] {
  try {
    const importMap = readProjectRules(folder)?.importMap ?? null
    return importMap === null ? [] : [importMap]
  } catch {
    return []
  }
}

/** The nearer file comes last and takes precedence. */
function nearerLast(folder: string, names: readonly string[]): string[] {
  return [join(folder, '..'), folder].flatMap((place) => names.map((name) => join(place, name)))
}

/** Paths of an import map are relative to the map, not to the importing file. */
function absoluteImports(given: unknown, base: string): Record<string, string> {
  const imports: Record<string, string> = {}
  if (given === null || typeof given !== 'object') return imports
  for (const [name, target] of Object.entries(given)) {
    if (typeof target !== 'string') continue
    imports[name] = /^\.{0,2}\//.test(target) ? resolve(base, target) + (target.endsWith('/') ? '/' : '') : target
  }
  return imports
}
