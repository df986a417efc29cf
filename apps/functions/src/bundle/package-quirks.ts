import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/**
 * The esbuild plugin for packages that load parts of themselves by a `require` that they make, which no bundler follows:
 * `const r = createRequire(import.meta.url); r('#fonts/…')` becomes a plain `require`.
 */
export function packageQuirks(): Plugin {
  return {
    name: 'package quirks',
    setup(build) {
      build.onLoad({ filter: /[\\/]node_modules[\\/]pdfkit[\\/]js[\\/].*\.m?js$/ }, async ({ path }) => ({
        contents: withPlainRequire(await readFile(path, 'utf8')),
      }))
    },
  }
}

/** Renames calls of a made `require` with a literal argument, so that the bundler sees them. */
export function withPlainRequire(code: string): string {
  const made = /\b(?:const|let|var)\s+([\w$]+)\s*=\s*createRequire\(\s*import\.meta\.url\s*\)/.exec(code)?.[1]
  if (made === undefined || made === 'require') return code
  return code.replaceAll(/([\w$]+)(\(\s*(['"])[^'"\n]+\3\s*\))/g, (whole, name: string, call: string) =>
    name === made ? `require${call}` : whole,
  )
}
