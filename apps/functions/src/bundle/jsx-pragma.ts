import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { Plugin } from 'esbuild'

/** Pragmas stand at the top of a file. */
const TOP = 2000

/** The esbuild plugin that reads `@jsxImportSource` as Deno does: it says by itself that JSX imports its own calls. */
export function jsxPragma(): Plugin {
  return {
    name: 'jsx pragma',
    setup(build) {
      build.onLoad({ filter: /\.[jt]sx$/ }, async ({ path }) => ({
        contents: withJsxRuntime(await readFile(path, 'utf8')),
        loader: extname(path) === '.tsx' ? 'tsx' : 'jsx',
      }))
    },
  }
}

/** The code, with the runtime said where only the source of imports is; lines stay where they are. */
function withJsxRuntime(code: string): string {
  const says = (pragma: string) => code.lastIndexOf(`${pragma} `, TOP) >= 0
  return says('@jsxImportSource') && !says('@jsxRuntime') ? `/** @jsxRuntime automatic */ ${code}` : code
}
