import { createHash } from 'node:crypto'
import { readFileSync, realpathSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import type { Message, Plugin, PluginBuild } from 'esbuild'
import { bundleFailed } from '../errors.ts'

/** Folder beside the bundle for files that modules locate relative to their own path. */
export const FILES = '_files'
const MAX_BYTES = 40 * 1024 * 1024

/** `import.meta.resolve('npm:name@1')`: the address of a package's module. */
const RESOLVED = /import\.meta\.resolve\(\s*(["'`])(npm:[^"'`\\$]+)\1\s*(?:,\s*)?\)/g
/** `new URL` of a literal path and `import.meta.url`, as tools agree on, or `import.meta.resolve('npm:…')`. */
const ADDRESS =
  /new URL\(\s*(["'`])([^"'`\\$]+)\1\s*,\s*import\.meta\.(?:url|resolve\(\s*(["'`])(npm:[^"'`\\$]+)\3\s*(?:,\s*)?\))\s*(?:,\s*)?\)/g
/** Names of WebAssembly files in CommonJS modules that load them from their own folder, as Emscripten's output does. */
const NAME = /["']([\w.-]+\.wasm)["']/g
/** Folder of the package that a module belongs to. */
const PACKAGE = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/

/** Whether a bundle may load files beside its modules; only then are its modules searched. */
export function asksForFiles(code: Uint8Array): boolean {
  const text = Buffer.from(code.buffer, code.byteOffset, code.byteLength).toString('latin1')
  return (
    text.search(ADDRESS) >= 0 ||
    text.search(RESOLVED) >= 0 ||
    (text.includes('import.meta.dirname') && text.search(NAME) >= 0)
  )
}

/** Files that are part of a bundle, by their path beside it, with their original path. */
export interface FilesBeside {
  readonly files: Map<string, Uint8Array>
  readonly inputs: Set<string>
}

/** The esbuild plugin that adds files beside modules to the bundle by their content; a package's only to itself. */
export function filesBeside(found: FilesBeside, next: (path: string, code: string) => Promise<string | null>): Plugin {
  return {
    name: 'files beside',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
        const code = await readFile(path, 'utf8')
        const own = await next(path, code)
        const { modules, errors } = await resolveNames(own ?? code, path, build)
        if (errors.length > 0) return { errors }
        const contents = withFiles(own ?? code, path, modules, found)
        return contents === code ? null : { contents, loader: loaderOf(path) }
      })
    },
  }
}

/** Paths of the modules that `import.meta.resolve('npm:…')` refers to; the errors of missing ones. */
async function resolveNames(code: string, importer: string, build: PluginBuild) {
  const modules = new Map<string, string>()
  const where = { importer, namespace: 'file', resolveDir: dirname(importer), kind: 'import-statement' } as const
  for (const [, , name = ''] of code.matchAll(RESOLVED)) {
    const { path, namespace, errors } = await build.resolve(name, where)
    if (errors.length > 0) return { modules, errors }
    if (namespace === 'file') modules.set(name, path)
  }
  return { modules, errors: [] as Message[] }
}

function withFiles(code: string, path: string, modules: ReadonlyMap<string, string>, found: FilesBeside): string {
  if (code.includes('__dirname')) {
    for (const [, name = ''] of code.matchAll(NAME)) keep(join(dirname(path), name), path, found, name)
    return code
  }
  const address = (file: string | undefined) => {
    const place = file === undefined ? null : keep(file, path, found)
    return place === null ? null : `new URL(${JSON.stringify(`./${place}`)}, import.meta.url)`
  }
  const addressed = rewrite(code, ADDRESS, ([, text = '', , name]) => {
    const module = name === undefined ? path : modules.get(name)
    return address(module && besideOf(module, text))
  })
  return rewrite(addressed, RESOLVED, ([, name = '']) => {
    const file = address(modules.get(name))
    return file === null ? null : `${file}.href`
  })
}

/** Replaces the matches for which `textOf` returns a text. */
function rewrite(code: string, pattern: RegExp, textOf: (groups: readonly string[]) => string | null): string {
  return code.replace(pattern, (whole: string, ...groups: string[]) => textOf(groups) ?? whole)
}

/** Path for a URL relative to a module; undefined when it is not a file URL. */
function besideOf(module: string, text: string): string | undefined {
  try {
    return fileURLToPath(new URL(text, pathToFileURL(module)))
  } catch {
    return undefined
  }
}

/** Adds a file that a module loads; null when it is missing or outside its package. @param name any when absent */
function keep(file: string, module: string, { files, inputs }: FilesBeside, name?: string): string | null {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return null
  const home = PACKAGE.exec(module)?.[0]
  if (home !== undefined && !realpathSync(file).startsWith(home + sep)) return null
  const bytes = readFileSync(file)
  const place =
    name ??
    `${FILES}/${createHash('sha256').update(bytes).digest('hex').slice(0, 16)}-${basename(file).replace(/[^\w.-]/g, '_')}`
  files.set(place, bytes)
  inputs.add(file)
  const total = [...files.values()].reduce((sum, one) => sum + one.length, 0)
  if (total > MAX_BYTES)
    throw bundleFailed({ problems: [`files that modules ask for have more than ${MAX_BYTES} bytes`] })
  return place
}

function loaderOf(path: string): 'js' | 'jsx' | 'ts' | 'tsx' {
  const [, kind = 'js'] = /\.[cm]?([jt]sx?)$/.exec(path) ?? []
  return kind as 'js'
}
