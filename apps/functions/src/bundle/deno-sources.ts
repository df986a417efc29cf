import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Loader, Plugin } from 'esbuild'

/** Pragmas are at the top of a file. */
const TOP = 2000

/**
 * The esbuild plugin that reads a function's own TypeScript and JSX like Deno: as ES modules, regardless of the
 * package.json beside them, and with `@jsxImportSource` alone enabling the automatic JSX runtime.
 */
export function denoSources(): Plugin {
  return {
    name: 'deno sources',
    setup(build) {
      build.onLoad({ filter: /\.(?:[jt]sx|m?ts)$/, namespace: 'file' }, async ({ path }) => {
        const contents = denoSource(path, await readFile(path, 'utf8'))
        return contents === null ? null : { contents, loader: extname(path).replace(/^\.m?/, '') as Loader }
      })
    },
  }
}

/** A source as Deno reads it; null for one that needs no change. */
export function denoSource(path: string, code: string): string | null {
  if (!/\.(?:[jt]sx|m?ts)$/.test(path) || /[\\/]node_modules[\\/]/.test(path)) return null
  return asModule(withJsxRuntime(code))
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
