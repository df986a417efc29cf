import { realpath } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build, type BuildOptions, type BuildResult, type Metafile, type Plugin } from 'esbuild'
import { bundleFailed } from './errors.ts'
import { describe, failureOf } from './failure.ts'
import type { ModuleGraph } from './imports/module-graph.ts'
import { cloudflareWorkers } from './plugins/cloudflare-workers.ts'
import { REQUIRE_NAMED, TABLE, computedRequires, requiresComputed } from './plugins/computed-requires.ts'
import { denoSource, denoSources } from './plugins/deno-sources.ts'
import { FETCHED, fetchedModules } from './plugins/fetched-modules.ts'
import { asksForFiles, filesBeside, type FilesBeside } from './plugins/files-beside.ts'
import { lateBound } from './plugins/late-bound.ts'
import { packageQuirk, packageQuirks } from './plugins/package-quirks.ts'
import { specifiers } from './plugins/specifiers.ts'
import { systemFacts } from './plugins/system-facts.ts'
import { DATA_LOADERS, uploaded } from './plugins/uploaded.ts'
import { wasmModules } from './plugins/wasm-modules.ts'
import { namedModules } from './requires.ts'
import { readCodeSettings } from './settings/code-settings.ts'
import { entryAmong } from './settings/entry.ts'

/** One ES module with all code except Node's built-in modules, and the files that it reads from disk. */
export interface Bundle {
  readonly code: Uint8Array
  /** Files that modules locate relative to their own path, by their path beside the code. */
  readonly files: ReadonlyMap<string, Uint8Array>
  /** Absolute paths; empty for uploads. */
  readonly inputs: readonly string[]
  /** Imports that reject at run time, because they could not be fetched, as `file:line: text`; none if cached. */
  readonly warnings?: readonly string[]
}

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
  loader: DATA_LOADERS,
  define: {
    // Variables of CommonJS modules; a module that declares its own keeps it. Static files are stored beside the bundle.
    __dirname: 'import.meta.dirname',
    __filename: 'import.meta.filename',
    // Applies to all modules but the entry, where it is replaced by `true` beforehand.
    'import.meta.main': 'false',
  },
  outfile: 'index.mjs',
} as const satisfies BuildOptions

/** `require` of built-in modules for CommonJS packages, by a name that no source has: the bundler does not see it. */
const REQUIRE = `import { createRequire as __terraneCreateRequire } from 'node:module'; const require = __terraneCreateRequire(import.meta.url);`

/**
 * Bundles a function's folder; packages come from the node_modules above it.
 *
 * @param fetched targets of fetched imports; null: only imports on disk
 * @throws FUNCTION_BUNDLE_FAILED with every problem as `file:line: text`; its cause is a {@link BundleFailure} where esbuild found it
 * @example
 * ```ts
 * const { code, files } = await bundleFolder('functions/hello', null)
 * await writeFile('out/index.mjs', code)
 * for (const [path, bytes] of files) await writeFile(join('out', path), bytes)
 * ```
 */
export async function bundleFolder(folder: string, fetched: ModuleGraph | null): Promise<Bundle> {
  // The bundler reports inputs relative to the real path of the folder.
  const real = await realpath(folder)
  const settings = await readCodeSettings(folder)
  const entry = await realpath(join(real, settings.entry))
  const plugins = [
    systemFacts(),
    cloudflareWorkers(),
    lateBound(),
    ...(fetched ? [fetchedModules(fetched)] : []),
    specifiers(settings.imports),
    packageQuirks(),
    denoSources(entry, settings.decoratorMetadata),
    wasmModules(),
  ]
  const options = {
    ...OPTIONS,
    ...settings.jsx,
    ...(settings.experimentalDecorators && { tsconfigRaw: EXPERIMENTAL_DECORATORS }),
    entryPoints: [entry] as [string],
    absWorkingDir: real,
    plugins,
  }
  return bundle(options, real, settings.files)
}

/**
 * Bundles files in memory, whose paths are relative to the function's folder. They import each other and built-in
 * modules, nothing else.
 *
 * @param advice added to the error of an import of a package
 * @throws FUNCTION_BUNDLE_FAILED
 * @example
 * ```ts
 * const source = `export default { fetch: () => new Response('hello') }`
 * const { code } = await bundleFiles(new Map([['index.ts', Buffer.from(source)]]))
 * ```
 */
export async function bundleFiles(files: ReadonlyMap<string, Uint8Array>, advice = ''): Promise<Bundle> {
  const entry = entryAmong(files)
  const plugins = [systemFacts(), cloudflareWorkers(), lateBound(), uploaded(files, entry, advice)]
  return bundle({ ...OPTIONS, entryPoints: [entry], plugins, tsconfigRaw: '{}' }, null)
}

const EXPERIMENTAL_DECORATORS = { compilerOptions: { experimentalDecorators: true } }

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
    const warnings = result.warnings.filter(({ pluginName }) => pluginName === FETCHED).map(describe)
    return { code, files: beside.files, inputs, warnings }
  } catch (error) {
    throw failureOf(error)
  }
}

/** The bundle with modules required by computed names; null without any, or when one cannot be bundled. */
async function withNamed(options: Options, first: Built, root: string | null): Promise<Built | null> {
  if (root === null || !requiresComputed(outputOf(first, '.mjs'))) return null
  const names = await namedModules(root, filesOf(first.metafile, root))
  if (names.length === 0) return null
  const plugins = [computedRequires(root, names), ...options.plugins]
  const built = await build({ ...options, plugins, inject: [TABLE], banner: { js: REQUIRE_NAMED } }).catch(() => null)
  return built && outputOf(built, '.mjs').length <= MAX_BUNDLE_BYTES ? built : null
}

function outputOf(built: Built, end: '.mjs' | '.map'): Uint8Array {
  return built.outputFiles.find(({ path }) => path.endsWith(end))!.contents
}

async function readSource(path: string, code: string, entry: string): Promise<string | null> {
  return denoSource(path, code, entry) ?? (await packageQuirk(path, code))
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
