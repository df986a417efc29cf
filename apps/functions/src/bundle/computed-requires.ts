import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'
import type { Plugin } from 'esbuild'

/** The import that the bundle begins with. */
export const TABLE = 'terrane:computed-requires'
const NAMESPACE = 'computed-requires'
/** `require` of what is no literal, as the bundler writes it. */
const COMPUTED = /\b__require\((?!["'`])/
/** A text of the code that could name a package, a file of one, or a file of the function. */
const TEXT = /(["'`])((?:\.{1,2}\/)?(?:@[\w.-]+\/)?\w[\w.-]*(?:\/[\w.-]+)*)\1/g
/** What stands before the name of an import: that one the bundler has followed. */
const IMPORTED = /(?:\brequire\(|\bfrom|\bimport\(?) ?$/
const ENDS = ['', '.js', '.cjs', '.json', '.ts', '/index.js', '/index.cjs', '/index.ts']
const MOST_NAMES = 100

/** Whether a bundle asks for a module whose name is known only when it runs. */
export function requiresComputed(code: Uint8Array): boolean {
  return COMPUTED.test(Buffer.from(code.buffer, code.byteOffset, code.byteLength).toString('latin1'))
}

/**
 * Modules that computed names may mean: what stands as a text in the function's own sources and is an installed package
 * or a file of the function, other than as the name of an import. `app.set('view engine', 'ejs')` has Express load `ejs`; so does `res.render('page.ejs')`.
 *
 * @param inputs absolute paths of what the bundle was made of
 */
export async function modulesNamed(root: string, inputs: readonly string[]): Promise<string[]> {
  const names = new Set<string>()
  for (const path of inputs) {
    if (!path.startsWith(root + sep) || path.includes(`${sep}node_modules${sep}`)) continue
    const code = await readFile(path, 'utf8')
    for (const { 2: text = '', index } of code.matchAll(TEXT)) {
      if (IMPORTED.test(code.slice(Math.max(0, index - 10), index))) continue
      if (text.startsWith('.')) {
        // Seen from the function's folder, which is what __dirname is when the bundle runs.
        for (const from of new Set([root, dirname(path)])) {
          const file = fileAt(join(from, text))
          if (file?.startsWith(root + sep) === true) names.add(`./${relative(root, file)}`)
        }
      } else {
        const end = text.split('.').at(-1)!
        for (const name of [text, end]) if (isInstalled(root, name)) names.add(name)
      }
    }
  }
  return [...names].slice(0, MOST_NAMES)
}

/** The esbuild plugin with the table of such modules; each is loaded when it is asked for. */
export function computedRequires(root: string, names: readonly string[]): Plugin {
  const entries = names.map((name) => {
    const keys = name.startsWith('./') ? ENDS.filter((end) => name.endsWith(end)) : ['']
    return keys
      .map(
        (end) =>
          `__named.set(${JSON.stringify(name.slice(0, name.length - end.length))}, () => require(${JSON.stringify(name)}))`,
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
export const REQUIRE_NAMED = `import { createRequire as __createRequire } from 'node:module'; const __named = new Map(); const __builtin = __createRequire(import.meta.url); const require = Object.assign((name) => { const made = __named.get(String(name).replace(import.meta.dirname + '/', './')); return made ? made() : __builtin(name); }, __builtin);`

function fileAt(path: string): string | null {
  return ENDS.map((end) => path + end).find((file) => statSync(file, { throwIfNoEntry: false })?.isFile()) ?? null
}

function isInstalled(root: string, name: string): boolean {
  const [scope = '', rest = ''] = name.split('/')
  const folder = name.startsWith('@') ? `${scope}/${rest}` : scope
  if (folder === '' || folder.endsWith('/')) return false
  for (let from = root; ; from = dirname(from)) {
    if (existsSync(join(from, 'node_modules', folder, 'package.json'))) return true
    if (dirname(from) === from) return false
  }
}
