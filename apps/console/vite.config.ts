import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import { defineConfig, type Plugin } from 'vite'
import { FINGERPRINT_FILE, pageFingerprint } from './src/page/fingerprint.ts'
import { world } from './world.ts'

const root = import.meta.dirname

export default defineConfig({
  root: join(root, 'web'),
  build: {
    outDir: join(root, 'dist'),
    emptyOutDir: true,
    target: ['chrome123', 'firefox128', 'safari18'],
    // Every asset is a file of the own origin: the content security policy allows nothing else.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1500,
  },
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  // `pnpm dev` serves the sources; the console itself has to run for /api.
  server: { proxy: { '/api': 'http://127.0.0.1:8003' } },
  plugins: [world(), finish()],
})

/** Compresses the build's output, and records its sources beside it. */
function finish(): Plugin {
  let folder = ''
  return {
    name: 'terrane-finish',
    apply: 'build',
    configResolved: (config) => {
      folder = config.build.outDir
    },
    closeBundle: async () => {
      const assets = join(folder, 'assets')
      const names = (await readdir(assets)).filter((name) => /\.(js|mjs|css)$/.test(name))
      await Promise.all(names.map((name) => compress(join(assets, name))))
      await writeFile(join(folder, FINGERPRINT_FILE), await pageFingerprint(root))
    },
  }
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path)
  const quality = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }
  await Promise.all([
    writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 })),
    writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, quality)),
  ])
}
