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
      build.onLoad({ filter: /[\\/]pdfkit[\\/]js[\\/]/ }, async ({ path }) => {
        const contents = packageQuirk(path, await readFile(path, 'utf8'))
        return contents === null ? null : { contents }
      })
    },
  }
}

/** The source of a package with its quirks fixed; null for one that has none. */
export function packageQuirk(path: string, code: string): string | null {
  return /[\\/]pdfkit[\\/]js[\\/]/.test(path) && /\.m?js$/.test(path) ? withPlainRequire(code) : null
}

const MADE = 'createRequire(import.meta.url)'

/** Renames calls of a made `require` with a literal argument, so that the bundler sees them. */
export function withPlainRequire(code: string): string {
  const [before = '', rest] = code.split(MADE, 2)
  // `const name = `, recognized by its last two words.
  const [name, equals] = before.slice(-80).trimEnd().split(' ').slice(-2)
  if (rest === undefined || equals !== '=') return code
  if (name === undefined || name === '' || name === 'require') return code
  let text = code
  for (const quote of [`'`, `"`]) {
    const parts = text.split(`${name}(${quote}`)
    text = parts.reduce((done, next) => `${done}${/[\w$.]$/.test(done) ? name : 'require'}(${quote}${next}`)
  }
  return text
}
