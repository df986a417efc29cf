import { readFileSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Plugin } from 'esbuild'
import { bundleFailed } from '../errors.ts'
import { sha256 } from './archive.ts'

/** Folder beside the bundle for files that modules locate relative to their own path. */
export const FILES = '_files'
const MAX_BYTES = 40 * 1024 * 1024

/** `new URL('data.bin', import.meta.url)`, the form that tools agree on. */
const ADDRESS = /new URL\(\s*(["'`])([^"'`\\$]+)\1\s*,\s*import\.meta\.url\s*\)/g
/** Names of WebAssembly files in CommonJS modules that load them from their own folder, as Emscripten's output does. */
const NAME = /["']([\w.-]+\.wasm)["']/g

/** Whether a bundle may load files beside its modules. Only then are the modules searched for them. */
export function asksForFiles(code: Uint8Array): boolean {
  const text = Buffer.from(code.buffer, code.byteOffset, code.byteLength).toString('latin1')
  return text.search(ADDRESS) >= 0 || (text.includes('import.meta.dirname') && text.search(NAME) >= 0)
}

/** Files that are part of a bundle, by their path beside it, with their original path. */
export interface FilesBeside {
  readonly files: Map<string, Uint8Array>
  readonly inputs: Set<string>
}

/**
 * The esbuild plugin that keeps files beside modules: each is added to the bundle under a name made from its content.
 */
export function filesBeside(found: FilesBeside, next: (path: string, code: string) => string | null): Plugin {
  return {
    name: 'files beside',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, async ({ path }) => {
        const code = await readFile(path, 'utf8')
        const own = next(path, code)
        const contents = withFiles(own ?? code, dirname(path), found)
        if (own === null && contents === code) return null
        return { contents, loader: loaderOf(path) }
      })
    },
  }
}

function withFiles(code: string, folder: string, found: FilesBeside): string {
  if (code.includes('__dirname')) {
    for (const [, name = ''] of code.matchAll(NAME)) keep(join(folder, name), name, found)
    return code
  }
  return code.replace(ADDRESS, (whole, _quote, text: string) => {
    const file = join(folder, decodeURIComponent(text))
    const place = keep(file, null, found)
    return place === null ? whole : `new URL(${JSON.stringify(`./${place}`)}, import.meta.url)`
  })
}

/** Adds a file; null where there is none. @param name under which it is requested; null: any */
function keep(file: string, name: string | null, { files, inputs }: FilesBeside): string | null {
  if (!statSync(file, { throwIfNoEntry: false })?.isFile()) return null
  const bytes = readFileSync(file)
  const place = name ?? `${FILES}/${sha256(bytes).slice(0, 16)}-${basename(file).replace(/[^\w.-]/g, '_')}`
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
