import { lstat, readFile, readdir, realpath } from 'node:fs/promises'
import { isAbsolute, join, posix, relative, resolve, sep } from 'node:path'
import { build, type BuildFailure, type BuildOptions, type Message, type Metafile } from 'esbuild'
import { bundleFailed } from '../errors.ts'
import { specifiers } from './specifiers.ts'
import { uploaded } from './uploaded.ts'

/** One ES module with everything but Node's built-in modules, and the files from disk that went into it. */
export interface Bundle {
  readonly code: Uint8Array
  /** Absolute paths; empty for uploads. */
  readonly inputs: readonly string[]
}

/** Names of a function's entry, the first that exists counts. */
export const ENTRIES = ['index.ts', 'index.tsx', 'index.mts', 'index.js', 'index.mjs', 'index.jsx'] as const

const MAX_BUNDLE_BYTES = 20 * 1024 * 1024
/** A larger source map is left out: every start would read it (1.6 MB took 12 ms of CPU). */
const MAX_MAP_BYTES = 512 * 1024

const OPTIONS = {
  bundle: true,
  write: false,
  metafile: true,
  format: 'esm',
  platform: 'neutral',
  mainFields: ['module', 'main'],
  conditions: ['deno', 'worker', 'import', 'module', 'default'],
  target: 'es2024',
  legalComments: 'none',
  logLevel: 'silent',
  // Stacks in the log name the author's files and lines; the sources themselves stay at home.
  sourcemap: 'external',
  sourcesContent: false,
  loader: { '.txt': 'text', '.wasm': 'binary' },
  outfile: 'index.mjs',
} as const satisfies BuildOptions

/** CommonJS packages ask for built-in modules by `require`, which an ES module has not. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);`

/**
 * Bundles a function's folder; packages come from the node_modules above it.
 *
 * @throws FUNCTION_BUNDLE_FAILED with every problem as `file:line: text`
 */
export async function bundleFolder(folder: string): Promise<Bundle> {
  const entry = await firstExisting(folder)
  const plugins = [specifiers(await readImports(folder))]
  // Inputs are told relative to the place where files really lie.
  const real = await realpath(folder)
  return bundle({ ...OPTIONS, entryPoints: [join(real, entry)], absWorkingDir: real, plugins }, real)
}

/**
 * Bundles uploaded files, whose paths are relative to the function's folder.
 *
 * @throws FUNCTION_BUNDLE_FAILED
 */
export async function bundleFiles(files: ReadonlyMap<string, Uint8Array>): Promise<Bundle> {
  const entry = ENTRIES.find((name) => files.has(name))
  if (entry === undefined) throw noEntry()
  return bundle({ ...OPTIONS, entryPoints: [entry], plugins: [uploaded(files)], tsconfigRaw: '{}' }, null)
}

/** Reads the static files of a function's folder that the policy names. @throws FUNCTION_BUNDLE_FAILED */
export async function readStatic(folder: string, patterns: readonly string[]): Promise<Map<string, Uint8Array>> {
  const files = new Map<string, Uint8Array>()
  for (const pattern of patterns) {
    const root = pattern.replace(/\/\*\*$/, '')
    if (!isInside(root)) throw bundleFailed({ problems: [`static: '${pattern}' is not inside the folder`] })
    const before = files.size
    await collect(folder, root, files).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') throw error
    })
    if (files.size === before) throw bundleFailed({ problems: [`static: there is no file '${pattern}'`] })
  }
  return files
}

/** Picks the static files among uploaded ones. @throws FUNCTION_BUNDLE_FAILED */
export function pickStatic(
  files: ReadonlyMap<string, Uint8Array>,
  patterns: readonly string[],
): Map<string, Uint8Array> {
  const picked = new Map<string, Uint8Array>()
  for (const pattern of patterns) {
    const root = pattern.replace(/\/\*\*$/, '')
    const matching = [...files].filter(([path]) => path === root || path.startsWith(`${root}/`))
    if (!isInside(root) || matching.length === 0)
      throw bundleFailed({ problems: [`static: there is no file '${pattern}' in the upload`] })
    for (const [path, bytes] of matching) picked.set(path, bytes)
  }
  return picked
}

/** True for a relative path, in normal form, that does not leave its folder or hide as the bundle itself. */
export function isInside(path: string): boolean {
  return (
    path !== '' &&
    path !== 'index.mjs' &&
    !isAbsolute(path) &&
    posix.normalize(path) === path &&
    !/^\.\.?(\/|$)/.test(path)
  )
}

async function bundle(options: BuildOptions & typeof OPTIONS, root: string | null): Promise<Bundle> {
  try {
    let result = await build(options)
    if (requiresBuiltin(result.metafile)) result = await build({ ...options, banner: { js: REQUIRE } })
    const output = (end: string) => result.outputFiles.find(({ path }) => path.endsWith(end))!.contents
    const code = withMap(output('.mjs'), output('.map'))
    if (code.length > MAX_BUNDLE_BYTES) {
      throw bundleFailed({ problems: [`the bundle has ${code.length} bytes, more than ${MAX_BUNDLE_BYTES}`] })
    }
    const inputs = root === null ? [] : Object.keys(result.metafile.inputs).map((input) => resolve(root, input))
    return { code, inputs }
  } catch (error) {
    if (!isBuildFailure(error)) throw error
    throw bundleFailed({ problems: error.errors.map(describe) })
  }
}

/** The code with its source map at the end, where runtimes look for it. */
function withMap(code: Uint8Array, map: Uint8Array): Uint8Array {
  if (map.length > MAX_MAP_BYTES) return code
  const comment = `//# sourceMappingURL=data:application/json;base64,${Buffer.from(map).toString('base64')}\n`
  return Buffer.concat([code, Buffer.from(comment)])
}

function requiresBuiltin(metafile: Metafile): boolean {
  return Object.values(metafile.outputs).some((output) =>
    output.imports.some((imported) => imported.external && imported.kind === 'require-call'),
  )
}

async function firstExisting(folder: string): Promise<string> {
  const names = new Set(await readdir(folder).catch(() => []))
  const entry = ENTRIES.find((name) => names.has(name))
  if (entry === undefined) throw noEntry()
  return entry
}

function noEntry() {
  return bundleFailed({ problems: [`there is none of ${ENTRIES.join(', ')}`] })
}

/** The `imports` of the deno.json of the function or of the functions folder. */
async function readImports(folder: string): Promise<Record<string, string>> {
  const imports: Record<string, string> = {}
  for (const path of [join(folder, '..', 'deno.json'), join(folder, 'deno.json')]) {
    const text = await readFile(path, 'utf8').catch(() => null)
    if (text === null) continue
    try {
      Object.assign(imports, (JSON.parse(text) as { imports?: Record<string, string> }).imports)
    } catch (error) {
      throw bundleFailed({ problems: [`${path}: ${(error as Error).message}`] })
    }
  }
  return imports
}

async function collect(folder: string, path: string, into: Map<string, Uint8Array>): Promise<void> {
  const file = join(folder, path)
  const real = await realpath(file)
  if (relative(await realpath(folder), real).startsWith('..'))
    throw bundleFailed({ problems: [`static: '${path}' leads out of the folder`] })
  if ((await lstat(real)).isDirectory())
    for (const name of (await readdir(file)).toSorted()) await collect(folder, `${path}/${name}`, into)
  else into.set(path.split(sep).join('/'), await readFile(file))
}

function isBuildFailure(error: unknown): error is BuildFailure {
  return error instanceof Error && Array.isArray((error as Partial<BuildFailure>).errors)
}

function describe({ text, location }: Message): string {
  return location ? `${location.file.replace(/^uploaded:/, '')}:${location.line}: ${text}` : text
}
