import { readdir, realpath, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import {
  build,
  type BuildFailure,
  type BuildOptions,
  type BuildResult,
  type Message,
  type Metafile,
  type Plugin,
} from 'esbuild'
import { bundleFailed } from '../errors.ts'
import { REQUIRE_NAMED, TABLE, computedRequires, modulesNamed, requiresComputed } from './computed-requires.ts'
import { readDenoJson } from './deno-json.ts'
import { denoSource, denoSources } from './deno-sources.ts'
import { asksForFiles, filesBeside, type FilesBeside } from './files-beside.ts'
import { lateBound } from './late-bound.ts'
import { packageQuirk, packageQuirks } from './package-quirks.ts'
import type { ModuleGraph } from '../imports/module-graph.ts'
import { fetchedModules } from './fetched-modules.ts'
import { FETCHABLE, specifiers } from './specifiers.ts'
import { configuredEntry } from './supabase-config.ts'
import { systemFacts } from './system-facts.ts'
import { uploaded } from './uploaded.ts'
import { wasmModules } from './wasm-modules.ts'

/** One ES module with everything but Node's built-in modules, and the files read from disk for it. */
export interface Bundle {
  readonly code: Uint8Array
  /** Files that modules locate relative to their own path, by their path beside the code. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Absolute paths; empty for uploads. */
  readonly inputs: readonly string[]
}

/** File names of a function's entry. The first that exists is used. */
export const ENTRIES = ['index.ts', 'index.tsx', 'index.mts', 'index.js', 'index.mjs', 'index.jsx'] as const

const MAX_BUNDLE_BYTES = 20 * 1024 * 1024
/** A larger source map is left out: every start would read it (1.6 MB took 12 ms of CPU). */
const MAX_MAP_BYTES = 512 * 1024

const OPTIONS = {
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  // Resolves packages like Node: `import` and `require` each with its own condition, and `deno` where a package has it.
  platform: 'node',
  mainFields: ['module', 'main'],
  conditions: ['deno'],
  target: 'es2024',
  legalComments: 'none',
  logLevel: 'silent',
  // Stack traces in the log name the author's files and lines. The sources themselves are not included.
  sourcemap: 'external',
  sourcesContent: false,
  loader: { '.txt': 'text', '.wasm': 'binary' },
  define: {
    // Variables of CommonJS modules; a module that declares its own keeps it. Static files are stored beside the bundle.
    __dirname: 'import.meta.dirname',
    __filename: 'import.meta.filename',
    // In all modules but the entry, which the runtime imports as it does any other.
    'import.meta.main': 'false',
  },
  outfile: 'index.mjs',
} as const satisfies BuildOptions

/** CommonJS packages load built-in modules with `require`, which ES modules do not have. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`

/**
 * Bundles a function's folder; packages come from the node_modules above it.
 *
 * @param fetched targets of fetched imports; null: only imports on disk
 * @throws FUNCTION_BUNDLE_FAILED with every problem as `file:line: text`
 */
export async function bundleFolder(folder: string, fetched: ModuleGraph | null): Promise<Bundle> {
  // The bundler reports inputs relative to the real path of the folder.
  const real = await realpath(folder)
  const entry = await realpath(join(real, await entryOf(folder)))
  const { imports, jsx, tsconfigRaw, decoratorMetadata, files } = await readDenoJson(folder)
  const graph = fetched ? [fetchedModules(fetched)] : []
  const plugins = [
    systemFacts(),
    lateBound(),
    ...graph,
    specifiers(imports),
    packageQuirks(),
    denoSources(entry, decoratorMetadata),
    wasmModules(),
  ]
  return bundle({ ...OPTIONS, ...jsx, ...tsconfigRaw, entryPoints: [entry], absWorkingDir: real, plugins }, real, files)
}

/**
 * Bundles uploaded files, whose paths are relative to the function's folder.
 *
 * @throws FUNCTION_BUNDLE_FAILED
 */
export async function bundleFiles(files: ReadonlyMap<string, Uint8Array>): Promise<Bundle> {
  const entry = ENTRIES.find((name) => files.has(name))
  if (entry === undefined) throw noEntry()
  return bundle(
    {
      ...OPTIONS,
      entryPoints: [entry],
      plugins: [systemFacts(), lateBound(), uploaded(files, entry)],
      tsconfigRaw: '{}',
    },
    null,
  )
}

type Options = BuildOptions & typeof OPTIONS & { readonly plugins: Plugin[]; readonly entryPoints: [string] }
type Built = BuildResult<typeof OPTIONS>

/** @param config files that configured how the folder is read; root is null for an upload */
async function bundle(given: Options, root: string | null, config: readonly string[] = []): Promise<Bundle> {
  let options = given
  const beside: FilesBeside = { files: new Map(), inputs: new Set() }
  try {
    let result = await build(options)
    if (root !== null && asksForFiles(outputOf(result, '.mjs'))) {
      options = {
        ...options,
        plugins: [filesBeside(beside, (path, code) => readSource(path, code, given.entryPoints[0])), ...given.plugins],
      }
      result = await build(options)
    }
    const named = await withNamed(options, result, root)
    if (named) result = named
    else if (requiresAtRun(result)) result = await build({ ...options, banner: { js: REQUIRE } })
    const code = withMap(outputOf(result, '.mjs'), outputOf(result, '.map'))
    if (code.length > MAX_BUNDLE_BYTES) {
      throw bundleFailed({ problems: [`the bundle has ${code.length} bytes, more than ${MAX_BUNDLE_BYTES}`] })
    }
    const inputs = root === null ? [] : [...filesOf(result.metafile, root), ...beside.inputs, ...config]
    return { code, files: beside.files, inputs }
  } catch (error) {
    if (!isBuildFailure(error)) throw error
    throw bundleFailed(
      { problems: error.errors.map(describe) },
      {
        cause: {
          missing: missingIn(error.errors),
          fetchable: error.errors.some(({ detail }) => detail === FETCHABLE),
        } satisfies BundleFailure,
      },
    )
  }
}

/**
 * The bundle with the modules that it requires by computed names; null where it has no such names, or where one of the
 * modules, which may never be asked for, cannot be bundled.
 */
async function withNamed(options: Options, first: Built, root: string | null): Promise<Built | null> {
  if (root === null || !requiresComputed(outputOf(first, '.mjs'))) return null
  const names = await modulesNamed(root, filesOf(first.metafile, root))
  if (names.length === 0) return null
  const plugins = [computedRequires(root, names), ...options.plugins]
  const built = await build({ ...options, plugins, inject: [TABLE], banner: { js: REQUIRE_NAMED } }).catch(() => null)
  return built && outputOf(built, '.mjs').length <= MAX_BUNDLE_BYTES ? built : null
}

function outputOf(built: Built, end: '.mjs' | '.map'): Uint8Array {
  return built.outputFiles.find(({ path }) => path.endsWith(end))!.contents
}

function readSource(path: string, code: string, entry: string): string | null {
  return denoSource(path, code, entry) ?? packageQuirk(path, code)
}

/** Cause of a bundle error: the problems that can be fixed without changing the function's code. */
export interface BundleFailure {
  /** Names of packages that are not installed. */
  readonly missing: readonly string[]
  /** Whether something is imported that could be fetched. */
  readonly fetchable: boolean
}

function missingIn(errors: readonly Message[]): string[] {
  const pattern = /^(?:Could not resolve "|'(?:npm|jsr):\/?)((?:@[\w.-]+\/)?\w[\w.-]*)/
  const names = errors.map(({ text }) => pattern.exec(text)?.[1]).filter((name) => name !== undefined)
  return [...new Set(names)]
}

/** Absolute paths of the files that were read. Names made by plugins are left out. */
function filesOf(metafile: Metafile, root: string): string[] {
  const paths = Object.keys(metafile.inputs).filter((path) => !/^(?:[a-z-]+:|\()/.test(path))
  return paths.map((path) => resolve(root, path))
}

/** The code with its source map at the end, where runtimes expect it. */
function withMap(code: Uint8Array, map: Uint8Array): Uint8Array {
  if (map.length > MAX_MAP_BYTES) return code
  const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`
  return Buffer.concat([code, Buffer.from(comment)])
}

/** Whether a bundle requires built-in modules, or modules whose names are computed. */
function requiresAtRun(built: Built): boolean {
  const outputs = Object.values(built.metafile.outputs)
  const isRequired = outputs.some(({ imports }) => imports.some((one) => one.external && one.kind === 'require-call'))
  return isRequired || requiresComputed(outputOf(built, '.mjs'))
}

/**
 * The file that a function begins with, relative to its folder.
 *
 * @throws FUNCTION_BUNDLE_FAILED when there is none
 */
export async function entryOf(folder: string): Promise<string> {
  const configured = configuredEntry(folder)
  if (configured !== null) {
    if (await stat(join(folder, configured)).catch(() => null)) return configured
    throw bundleFailed({ problems: [`config.toml: there is no file '${configured}', the entrypoint`] })
  }
  const names = new Set(await readdir(folder).catch(() => []))
  const entry = ENTRIES.find((name) => names.has(name))
  if (entry === undefined) throw noEntry()
  return entry
}

function noEntry() {
  return bundleFailed({ problems: [`there is none of ${ENTRIES.join(', ')}`] })
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors)
}

function describe({ text, location }: Message): string {
  return location ? `${location.file.replace(/^uploaded:/, '')}:${location.line}: ${text}` : text
}
