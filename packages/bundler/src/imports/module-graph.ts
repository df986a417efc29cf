import { pathToFileURL } from 'node:url'
import type { Loader } from 'esbuild'

/** Imports of a function that are not on its disk, as Deno resolved them. Serialized as JSON. */
export interface ModuleGraph {
  /** Resolved address by the importing module's address and by the specifier as written there. */
  readonly imports: Readonly<Record<string, Readonly<Record<string, string>>>>
  /** Remote modules by address, with the file that holds each. */
  readonly modules: Readonly<Record<string, { readonly path: string; readonly loader: Loader }>>
  /** Packages by address `npm:/name@version/part`: the name to resolve, and the folder whose node_modules has it. */
  readonly packages: Readonly<Record<string, { readonly name: string; readonly folder: string }>>
  /** Deno's error for each address that it could not fetch. */
  readonly failures: Readonly<Record<string, string>>
}

/** The part of `deno info --json` (version 1) that is read. */
export interface DenoInfo {
  /** Addresses of the modules that the graph begins with. */
  readonly roots: readonly string[]
  readonly modules: readonly {
    readonly specifier: string
    readonly kind?: string
    readonly local?: string
    readonly mediaType?: string
    readonly npmPackage?: string
    readonly error?: string
    readonly dependencies?: readonly {
      readonly specifier: string
      /** Absent for an import of types only. */
      readonly code?: { readonly specifier?: string; readonly error?: string }
      /** True for `import()`. */
      readonly isDynamic?: boolean
    }[]
  }[]
  readonly redirects?: Readonly<Record<string, string>>
  readonly npmPackages?: Readonly<Record<string, { readonly name: string; readonly localPath?: string }>>
}

const LOADERS: Readonly<Record<string, Loader>> = {
  TypeScript: 'ts',
  Mts: 'ts',
  Cts: 'ts',
  TSX: 'tsx',
  JSX: 'jsx',
  Json: 'json',
  Wasm: 'binary',
  // Declarations of types have nothing that runs.
  Dts: 'empty',
  Dmts: 'empty',
  Dcts: 'empty',
}

/** Builds the graph from Deno's description of a module and everything that it imports. */
export function readModuleGraph(info: DenoInfo): ModuleGraph {
  const imports: Record<string, Record<string, string>> = {}
  const modules: Record<string, { path: string; loader: Loader }> = {}
  const packages: Record<string, { name: string; folder: string }> = {}
  const failures: Record<string, string> = {}
  for (const module of info.modules) {
    const { specifier, local, error } = module
    if (error !== undefined) failures[specifier] = error
    if (module.kind === 'npm') {
      const found = info.npmPackages?.[module.npmPackage ?? '']
      if (found?.localPath !== undefined) packages[specifier] = packageAt(specifier, found.name, found.localPath)
      continue
    }
    if (local === undefined) continue
    if (isRemote(specifier)) modules[specifier] = { path: local, loader: LOADERS[module.mediaType ?? ''] ?? 'js' }
    const leads: Record<string, string> = {}
    for (const { specifier: text, code } of module.dependencies ?? [])
      if (code?.specifier !== undefined) leads[text] = redirected(info.redirects ?? {}, code.specifier)
    imports[specifier] = leads
  }
  return { imports, modules, packages, failures }
}

/** Target of an import; null if it is looked up on disk. @param importer its address, or the path of a file */
export function followImport(graph: ModuleGraph, importer: string, text: string): string | null {
  const address = isRemote(importer) ? importer : pathToFileURL(importer).href
  const leads = graph.imports[address]?.[text]
  return leads === undefined || leads.startsWith('file:') ? null : leads
}

/** Deno's errors by `address: text`, but for type-only modules and `import()`, without which a module runs. */
export function problemsOf(info: DenoInfo): string[] {
  const modules = new Map(info.modules.map((module) => [module.specifier, module]))
  const redirects = info.redirects ?? {}
  const problems: string[] = []
  // Modules that are added while it runs are visited, too.
  const needed = new Set(info.roots.map((root) => redirected(redirects, root)))
  for (const specifier of needed) {
    const { error, dependencies = [] } = modules.get(specifier) ?? {}
    if (error !== undefined) problems.push(`${specifier}: ${error}`)
    for (const { code, isDynamic } of dependencies) {
      if (isDynamic === true || !code) continue
      if (code.error !== undefined) problems.push(`${specifier}: ${code.error}`)
      if (code.specifier !== undefined) needed.add(redirected(redirects, code.specifier))
    }
  }
  return problems
}

function isRemote(address: string): boolean {
  return /^https?:/.test(address)
}

function redirected(redirects: Readonly<Record<string, string>>, specifier: string): string {
  let at = specifier
  for (let hops = 0; redirects[at] !== undefined && hops < 20; hops++) at = redirects[at]!
  return at
}

/** `npm:/hono@4.1.0/tiny` is `hono/tiny`, found from the folder that has `node_modules/hono`. */
function packageAt(specifier: string, name: string, localPath: string): { name: string; folder: string } {
  const [, ...part] = specifier.slice(`npm:/${name}@`.length).split('/')
  return { name: [name, ...part].join('/'), folder: localPath.slice(0, -`/node_modules/${name}`.length) }
}
