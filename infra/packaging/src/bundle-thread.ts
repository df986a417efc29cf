import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { build, type Plugin } from 'esbuild'

/** Packages of native code or WebAssembly: a thread takes them from where the program that starts it finds them. */
const INSTALLED = new Set([
  'sharp',
  'onnxruntime-node',
  'lerc',
  'koffi',
  '@cornerstonejs/codec-libjpeg-turbo-8bit/decodewasmjs',
])

const TEXT = /readFileSync\(new URL\('\.\/([\w.-]+)', import\.meta\.url\), 'utf8'\)/g

/**
 * Code that imports the text files that it would read from its own folder, as modules with `suffix`; and the files'
 * names.
 */
export function withTexts(code: string, suffix: string): { readonly text: string; readonly assets: readonly string[] } {
  const assets = [...new Set(Array.from(code.matchAll(TEXT), ([, name]) => name!))]
  const imports = assets.map((name) => `import ${textOf(name)} from './${name}${suffix}';\n`).join('')
  return { text: imports + code.replace(TEXT, (_, name: string) => textOf(name)), assets }
}

/**
 * A module whose default export is `(base) => URL`: the address of a worker thread's whole program, which holds all that
 * the entry imports. `base` is the address of the module that starts it; installed packages are looked up from there.
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
    plugins: [installed, texts],
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

function textOf(name: string): string {
  return `text_${name.replace(/\W/g, '_')}`
}
