import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build, type Plugin } from 'esbuild'
import { writeProgram } from './program-file.ts'

const ENTRY = fileURLToPath(new URL('./build.worker.ts', import.meta.url))
/** CommonJS packages within the bundle load built-in modules with `require`. */
const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/** Packages with native programs are loaded from their installed location. */
const nativePackages: Plugin = {
  name: 'native packages',
  setup: (bundler) =>
    bundler.onResolve({ filter: /^(?:esbuild|oxc-parser)$/ }, ({ path, resolveDir }) => ({
      path: pathToFileURL(createRequire(join(resolveDir, 'index.js')).resolve(path)).href,
      external: true,
    })),
}

/**
 * Bundles the program of build processes into one file under `folder` and returns its path. From one file a process
 * starts in a fifth of the CPU time that it takes from the sources.
 */
export async function writeBuildProgram(folder: string): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [ENTRY],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    logLevel: 'silent',
    banner: { js: REQUIRE },
    plugins: [nativePackages],
  })
  return writeProgram('build', outputFiles[0]!.contents, folder)
}
