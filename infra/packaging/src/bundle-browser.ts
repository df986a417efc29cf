import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, type Plugin } from 'esbuild'
import { texts } from './bundle-thread.ts'

/**
 * Bundles an entry for browsers into `folder`, with all its dependencies, so that a page can load it without a bundler.
 * Rarely used code is in separate chunks. A module `x.ts` with an `x.browser.ts` beside it is replaced by that one.
 */
export async function bundleBrowser(entry: string, folder: string): Promise<void> {
  await build({
    entryPoints: [entry],
    outdir: folder,
    allowOverwrite: true,
    bundle: true,
    splitting: true,
    chunkNames: 'browser-[name]-[hash]',
    platform: 'browser',
    format: 'esm',
    target: 'es2022',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    loader: { '.tsv': 'text', '.wasm': 'dataurl' },
    plugins: [ofBrowsers, texts],
  })
}

const ofBrowsers: Plugin = {
  name: 'modules of browsers',
  setup(bundle) {
    bundle.onResolve({ filter: /^\.{1,2}\/.*\.ts$/ }, ({ path, importer }) => {
      const other = join(dirname(importer), path.replace(/\.ts$/, '.browser.ts'))
      return existsSync(other) ? { path: other } : null
    })
    // Packages for both platforms use these modules only in Node.
    bundle.onResolve({ filter: /^(?:node:)?(?:fs|path|module|crypto)$/ }, ({ path }) => ({ path, namespace: 'absent' }))
    bundle.onLoad({ filter: /./, namespace: 'absent' }, () => ({ contents: 'module.exports = {}' }))
  },
}
