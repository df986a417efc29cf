import type { Plugin } from 'esbuild'
import { ENDS } from '../requires.ts'

/** The import that the bundle begins with. */
export const TABLE = 'terrane:computed-requires'
const NAMESPACE = 'computed-requires'
/** A `require` with an argument other than a literal, as the bundler writes it. */
const COMPUTED = /\b__require\((?!["'`])/

/** Whether a bundle requires modules by computed names. */
export function requiresComputed(code: Uint8Array): boolean {
  return COMPUTED.test(Buffer.from(code.buffer, code.byteOffset, code.byteLength).toString('latin1'))
}

/** The esbuild plugin that adds a table of the modules that computed names may mean; each loads on first use. */
export function computedRequires(root: string, names: readonly string[]): Plugin {
  const entries = names.map((name) => {
    const keys = name.startsWith('./') ? ENDS.filter((end) => name.endsWith(end)) : ['']
    return keys
      .map(
        (end) =>
          `__terraneNamed.set(${JSON.stringify(name.slice(0, name.length - end.length))}, () => require(${JSON.stringify(name)}))`,
      )
      .join('\n')
  })
  return {
    name: 'computed requires',
    setup(build) {
      build.onResolve({ filter: /^terrane:computed-requires$/ }, ({ path }) => {
        return { path, namespace: NAMESPACE, sideEffects: true }
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, () => {
        return { contents: entries.join('\n'), loader: 'js', resolveDir: root }
      })
    },
  }
}

/** Code before a bundle with the table: a `require` that looks there first. */
export const REQUIRE_NAMED = `import { createRequire as __terraneCreateRequire } from 'node:module'; const __terraneNamed = new Map(); const __terraneBuiltin = __terraneCreateRequire(import.meta.url); const require = Object.assign((name) => { const made = __terraneNamed.get(String(name).replace(import.meta.dirname + '/', './')); return made ? made() : __terraneBuiltin(name); }, __terraneBuiltin);`
