import { readFile } from 'node:fs/promises'
import type { Plugin } from 'esbuild'

/** The esbuild plugin for `createRequire`, which bundlers do not follow: calls of it become a plain `require`. */
export function packageQuirks(): Plugin {
  return {
    name: 'package quirks',
    setup(build) {
      build.onLoad({ filter: /[\\/]pdfkit[\\/]js[\\/]/ }, async ({ path }) => {
        const contents = await packageQuirk(path, await readFile(path, 'utf8'))
        return contents === null ? null : { contents }
      })
    },
  }
}

/** The source of a package with its quirks fixed; null without quirks. */
export async function packageQuirk(path: string, code: string): Promise<string | null> {
  return /[\\/]pdfkit[\\/]js[\\/]/.test(path) && /\.m?js$/.test(path) ? withPlainRequire(code) : null
}

/** Replaces literal calls of a `createRequire` function by `require`, so that the bundler follows them. */
export async function withPlainRequire(code: string): Promise<string> {
  const { Visitor, parseSync } = await import('oxc-parser')
  const made = new Set<string>()
  const calls: { readonly name: string; readonly start: number; readonly end: number }[] = []
  new Visitor({
    VariableDeclarator({ id, init }) {
      const makes = init?.type === 'CallExpression' && code.slice(init.start, init.end) === MADE
      if (makes && id.type === 'Identifier') made.add(id.name)
    },
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type !== 'Identifier' || first?.type !== 'Literal' || typeof first.value !== 'string') return
      calls.push({ name: callee.name, start: callee.start, end: callee.end })
    },
  }).visit(parseSync('module.mjs', code).program)
  let text = code
  for (const { name, start, end } of calls.toReversed())
    if (made.has(name)) text = `${text.slice(0, start)}require${text.slice(end)}`
  return text
}

const MADE = 'createRequire(import.meta.url)'
