import { existsSync, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join, relative, sep } from 'node:path'

/** A text that could name a package, a file of one, or a file of the function. */
const NAME = /^(?:\.{1,2}\/)?(?:@[\w.-]+\/)?\w[\w.-]*(?:\/[\w.-]+)*$/
/** Ends of a file's path that may be left out of its name. */
export const ENDS = ['', '.js', '.cjs', '.json', '.ts', '/index.js', '/index.cjs', '/index.ts']
const MOST_NAMES = 100
/** Sources above this size, in characters, are not parsed: a syntax tree takes some thirty times as much memory. */
const MOST_PARSED = 1 << 20
/** A text in quotes, in sources that are not parsed. */
const QUOTED = /(["'`])((?:\.{1,2}\/)?[@\w][\w.@/-]*)\1/g

/**
 * Modules that `require` may load by a computed name: the texts of the function's own sources that name an installed
 * package or a file of the function, other than as the name of an import. `app.set('view engine', 'ejs')` has Express load
 * `ejs`; so does `res.render('page.ejs')`.
 *
 * @param inputs absolute paths of the modules of the bundle
 */
export async function namedModules(root: string, inputs: readonly string[]): Promise<string[]> {
  const names = new Set<string>()
  for (const path of inputs) {
    if (!path.startsWith(root + sep) || path.includes(`${sep}node_modules${sep}`)) continue
    for (const text of await textsOf(path, await readFile(path, 'utf8'))) {
      if (text.startsWith('.')) {
        // Also relative to the function's folder, which is __dirname when the bundle runs.
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

/** Literal texts of a module that could be names, without the names of its imports, which the bundler has followed. */
async function textsOf(path: string, code: string): Promise<Set<string>> {
  const imported = new Set<unknown>()
  const texts = new Set<string>()
  const add = (text: unknown) => {
    if (typeof text === 'string' && NAME.test(text)) texts.add(text)
  }
  if (code.length > MOST_PARSED) {
    for (const { 2: text } of code.matchAll(QUOTED)) add(text)
    return texts
  }
  const { Visitor, parseSync } = await import('oxc-parser')
  const skip = ({ source }: { readonly source: unknown }) => void imported.add(source)
  new Visitor({
    ImportDeclaration: skip,
    ExportAllDeclaration: skip,
    ExportNamedDeclaration: skip,
    ImportExpression: skip,
    TSImportType: skip,
    TSExternalModuleReference: ({ expression }) => void imported.add(expression),
    CallExpression({ callee, arguments: [first] }) {
      if (callee.type === 'Identifier' && callee.name === 'require') imported.add(first)
    },
    Literal(node) {
      if (!imported.has(node)) add(node.value)
    },
    TemplateLiteral(node) {
      if (!imported.has(node) && node.expressions.length === 0) add(node.quasis[0]?.value.cooked)
    },
  }).visit(path.endsWith('.json') ? parseSync('data.js', `(${code}\n)`).program : parseSync(path, code).program)
  return texts
}

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
