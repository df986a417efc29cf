import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Loader, Plugin } from 'esbuild'
import { withDecoratorMetadata } from './decorator-metadata.ts'

/** Pragmas are at the top of a file. */
const TOP = 2000
const TYPED = /\.(?:[jt]sx|m?ts)$/

/**
 * The esbuild plugin that reads a function's own TypeScript and JSX like Deno: as ES modules, regardless of the
 * package.json beside them, with `@jsxImportSource` alone enabling the automatic JSX runtime, and with the entry as the
 * main module.
 *
 * @param entry real path of the entry
 * @param decoratorMetadata whether the configuration requests decorator metadata, which the bundler does not emit itself
 */
export function denoSources(entry: string, decoratorMetadata: boolean): Plugin {
  return {
    name: 'deno sources',
    setup(build) {
      build.onLoad({ filter: /\.(?:[jt]sx|m?[jt]s)$/, namespace: 'file' }, async ({ path }) => {
        if (!TYPED.test(path) && path !== entry) return null
        const code = await readFile(path, 'utf8')
        const hasMetadata = decoratorMetadata && !IN_PACKAGE.test(path)
        const contents = denoSource(path, hasMetadata ? await withDecoratorMetadata(path, code) : code, entry)
        return contents === null ? null : { contents, loader: extname(path).replace(/^\.m?/, '') as Loader }
      })
    },
  }
}

const IN_PACKAGE = /[\\/]node_modules[\\/]/
/** A source as Deno reads it; null for one that needs no change. */
export function denoSource(path: string, code: string, entry: string): string | null {
  const own = path === entry ? asMain(code) : code
  if (!TYPED.test(path) || IN_PACKAGE.test(path)) return own === code ? null : own
  return asModule(withJsxRuntime(own))
}

/** The code of the main module: its `import.meta.main` is true. The bundle defines it as false in all others. */
export function asMain(code: string): string {
  // Padded to the same length, so that columns stay.
  return code.replace(/\bimport\.meta\.main\b/g, (found) => 'true'.padEnd(found.length))
}

/** The code with a last line that makes a module of it, unless it exports as CommonJS does. */
function asModule(code: string): string {
  return /\bmodule\.exports\b|\bexports\./.test(code) ? code : `${code}\nexport {}`
}

/** The code, with the JSX runtime added where only the import source is given. Line numbers stay the same. */
function withJsxRuntime(code: string): string {
  const says = (pragma: string) => code.lastIndexOf(`${pragma} `, TOP) >= 0
  return says('@jsxImportSource') && !says('@jsxRuntime') ? `/** @jsxRuntime automatic */ ${code}` : code
}
