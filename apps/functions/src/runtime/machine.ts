import { execFile } from 'node:child_process'
import { access, constants } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { writeProgram } from '../build/program-file.ts'

const run = promisify(execFile)

/**
 * The deno binary of this platform from its npm package; null when there is none, for example on musl. It does not
 * depend on the package's install script.
 */
export async function findDeno(): Promise<string | null> {
  const suffix = process.platform === 'linux' ? '-glibc' : ''
  try {
    const parent = createRequire(import.meta.url).resolve('deno/package.json')
    const manifest = createRequire(parent).resolve(`@deno/${process.platform}-${process.arch}${suffix}/package.json`)
    const binary = join(dirname(manifest), 'deno')
    await access(binary, constants.X_OK)
    await run(binary, ['--version'], { timeout: 20_000 })
    return binary
  } catch {
    return null
  }
}

/** Path of a program on PATH or in the usual system folders, or null. */
export async function findProgram(name: string, path: string): Promise<string | null> {
  for (const folder of [...path.split(delimiter), '/usr/bin', '/bin', '/usr/sbin']) {
    const file = join(folder, name)
    const found = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (folder !== '' && found) return file
  }
  return null
}

/** util-linux's setpriv, if it can tie a process to the life of its parent (busybox's cannot). */
export async function findSetpriv(path: string): Promise<string | null> {
  const file = process.platform === 'linux' ? await findProgram('setpriv', path) : null
  if (file === null) return null
  return run(file, ['--no-new-privs', '--pdeathsig', 'KILL', '--', 'true']).then(
    () => file,
    () => null,
  )
}

/** Files that the dynamic loader needs to start a binary. A sandbox needs no other system files. */
export async function librariesOf(binary: string): Promise<string[]> {
  const { stdout } = await run('ldd', [binary])
  const files = [...stdout.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map((match) => match[1]!)
  return [...new Set(files)]
}

const REQUIRE = `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);`

/** Bundles a shim into one file under `folder` and returns its path; the name follows the content. */
export async function bundleShim(shim: 'deno' | 'node' | 'tmp/tmp', folder: string): Promise<string> {
  const entry = fileURLToPath(new URL(`./shim/${shim}.ts`, import.meta.url))
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    target: 'es2023',
    logLevel: 'silent',
    // CommonJS code loads built-in modules with `require`.
    ...(shim === 'tmp/tmp' && { minify: true, banner: { js: REQUIRE } }),
  })
  return writeProgram('shim', outputFiles[0]!.contents, folder)
}
