import { readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** Packages with native code or WebAssembly: a thread resolves them from the program that starts it. */
const INSTALLED = new Set([
  'sharp',
  'onnxruntime-node',
  'lerc',
  'koffi',
  '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasmjs',
  '@electric-sql/pglite',
  '@electric-sql/pglite-pgvector',
  '@electric-sql/pglite-postgis',
])

/** The URL of a worker thread in a module. */
const THREAD = /new URL\('\.\/([\w.-]+)\.ts', import\.meta\.url\)/g
const TEXT = /readFileSync\(new URL\('\.\/([\w.-]+)', import\.meta\.url\), 'utf8'\)/g

/** Code with imports of the text files that it would read from its folder, as modules with `suffix`; their names. */
export function withTexts(code: string, suffix: string): { readonly text: string; readonly assets: readonly string[] } {
  const assets = [...new Set(Array.from(code.matchAll(TEXT), ([, name]) => name!))]
  const imports = assets.map((name) => `import ${textOf(name)} from './${name}${suffix}';\n`).join('')
  return { text: imports + code.replace(TEXT, (_, name: string) => textOf(name)), assets }
}

/**
 * A module whose default export is `(base) => URL`: the URL of a worker thread's whole program, with all imports of the
 * entry. `base` is the URL of the module that starts it; installed packages are resolved from there.
 */
export async function bundleThread(entry: string): Promise<string> {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    target: 'node22',
    legalComments: 'none',
    minifyWhitespace: true,
    loader: { '.tsv': 'text' },
    plugins: [installed, texts, threads],
  })
  const code = result.outputFiles[0]!.text
  const name = `//# sourceURL=terrane-${basename(entry, '.ts')}.js`
  return `const code = ${JSON.stringify(`${PRELUDE}${code}\n${name}\n`)};
export default (base) =>
  new URL('data:text/javascript;base64,' + Buffer.from('const __base = ' + JSON.stringify(base) + ';' + code).toString('base64'));
`
}

/** A CommonJS bundle has no `import.meta.url`, so packages are looked up from the working directory. */
const PRELUDE = `import { createRequire as __createRequire } from 'node:module';
const __installed = __createRequire(__base ?? process.cwd() + '/');
const require = __installed;
`

const installed: Plugin = {
  name: 'installed packages',
  setup(bundle) {
    bundle.onResolve({ filter: /^[^./]/ }, ({ path }) =>
      INSTALLED.has(path) ? { path, namespace: 'installed' } : null,
    )
    bundle.onLoad({ filter: /./, namespace: 'installed' }, ({ path }) => ({
      contents: `module.exports = __installed(${JSON.stringify(path)})`,
    }))
  },
}

/** Texts that modules read from their own folder, inside the bundle. */
export const texts: Plugin = {
  name: 'texts',
  setup(bundle) {
    bundle.onLoad({ filter: /\/(?:crs|onnx)\/[\w-]+\.ts$/ }, async ({ path }) => ({
      contents: withTexts(await readFile(path, 'utf8'), '').text,
      loader: 'ts',
    }))
  },
}

/** A thread that another one starts, inside the bundle of that one; elsewhere threads import it as a module. */
const threads: Plugin = {
  name: 'threads of threads',
  setup(bundle) {
    bundle.onLoad({ filter: /\/pglite-server\/src\/engine\/engine\.ts$/ }, async ({ path }) => {
      const { code, names } = withThreads(await readFile(path, 'utf8'), '__base')
      return names.length === 0 ? null : { contents: code, loader: 'ts' }
    })
    bundle.onResolve({ filter: /\.inline\.js$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path.replace(/\.inline\.js$/, '.ts')),
      namespace: 'thread',
    }))
    bundle.onLoad({ filter: /./, namespace: 'thread' }, async ({ path }) => ({
      contents: await bundleThread(path),
      resolveDir: dirname(path),
    }))
  },
}

/** Code with imports of the threads that it would start, and their names. `base` is an expression. */
export function withThreads(code: string, base: string): { readonly code: string; readonly names: readonly string[] } {
  const names = [...new Set(Array.from(code.matchAll(THREAD), ([, name]) => name!))]
  const imports = names.map((name) => `import ${threadOf(name)} from './${name}.inline.js';\n`).join('')
  return { code: imports + code.replace(THREAD, (_, name: string) => `${threadOf(name)}(${base})`), names }
}

function threadOf(name: string): string {
  return `inline_${name.replace(/\W/g, '_')}`
}

function textOf(name: string): string {
  return `text_${name.replace(/\W/g, '_')}`
}
