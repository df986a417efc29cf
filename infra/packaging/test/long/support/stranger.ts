import { execFile, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const ROOT = resolve(import.meta.dirname, '../../../../..')
const PEERS = join(ROOT, 'infra/peers/packing')

/** Published packages, dependencies first. */
export const PACKAGES = [
  'core',
  'contracts',
  'osm',
  'tiling',
  'files',
  'overture',
  'embeddings',
  'routing',
  'bundler',
  'client',
  'pglite-server',
] as const

/**
 * Native packages, WebAssembly and packages that load modules of Node by `require`: a bundle leaves them in
 * node_modules.
 */
export const NATIVE = [
  'sharp',
  'onnxruntime-node',
  'lerc',
  '@cornerstonejs/codec-libjpeg-turbo-8bit',
  'esbuild',
  'oxc-parser',
  'pg',
  'gdal3.js',
  'yauzl',
  'tar-stream',
]
/** Imports of README examples besides the packages. */
const DRIVER = ['pg@8.23.1', '@types/pg@8.23.1']

/** A compiler, two bundlers, two checkers and an older Node, of fixed versions. Null when they cannot be installed. */
export function installTools(): string | null {
  const bin = join(PEERS, 'node_modules/.bin')
  if (existsSync(join(bin, 'attw'))) return bin
  return npmInstall(PEERS, []) ? bin : null
}

export function node22(): string {
  return join(PEERS, 'node_modules/node22/bin/node')
}

/** A folder with nothing but a package.json and the tarballs of all packages, installed by npm. Null without a registry. */
export function installPackages(): string | null {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-stranger-'))
  const tarballs = PACKAGES.map((name) => pack(name, folder))
  writeFileSync(join(folder, 'package.json'), '{ "name": "stranger", "private": true, "type": "module" }\n')
  if (npmInstall(folder, [...tarballs, ...DRIVER])) return folder
  rmSync(folder, { recursive: true })
  return null
}

/** The tarball of a package. */
function pack(name: string, destination: string): string {
  const cwd = join(ROOT, 'packages', name)
  const packed = spawnSync('pnpm', ['pack', '--pack-destination', destination], { cwd, encoding: 'utf8' })
  const tarball = readdirSync(destination).find((file) => file.startsWith(`terrane-${name}-`))
  if (packed.status !== 0 || tarball === undefined)
    throw new Error(`pnpm pack ${name}: ${packed.stdout}${packed.stderr}`)
  return join(destination, tarball)
}

/** The code blocks of a README in one language. */
export function readmeBlocks(name: string, language = 'ts'): string[] {
  const text = readFileSync(join(ROOT, 'packages', name, 'README.md'), 'utf8')
  return Array.from(text.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')), ([, code]) => code!)
}

/** Runs a program and returns its standard output. @throws with the whole output when it fails */
export async function run(program: string, args: readonly string[], cwd: string, env = process.env): Promise<string> {
  const { stdout } = await promisify(execFile)(program, args, { cwd, env, maxBuffer: 1 << 26, timeout: 300_000 }).catch(
    (error: { stdout: string; stderr: string; message: string }) => {
      throw new Error(`${error.message}\n${error.stdout}${error.stderr}`)
    },
  )
  return stdout
}

/** A folder with a bundle and native packages, but without our packages. */
export function folderForBundle(stranger: string, bundle: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'terrane-bundle-'))
  cpSync(bundle, folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const name of readdirSync(join(stranger, 'node_modules'))) {
    if (name === '@terrane' || name.startsWith('.')) continue
    mkdirSync(join(folder, 'node_modules'), { recursive: true })
    symlinkSync(join(stranger, 'node_modules', name), join(folder, 'node_modules', name))
  }
  return folder
}

function npmInstall(folder: string, what: readonly string[]): boolean {
  const flags = ['--prefer-offline', '--no-audit', '--no-fund', '--no-package-lock']
  // The packages need no install script: ONNX's would fetch a runtime for graphics cards.
  if (what.length > 0) flags.push('--ignore-scripts')
  // npm exports its configuration as variables, which another npm would read as flags.
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => !/^npm_/i.test(key)))
  const installed = spawnSync('npm', ['install', ...flags, ...what], { cwd: folder, env, encoding: 'utf8' })
  if (installed.status === 0) return true
  if (/ENOTFOUND|ECONNREFUSED|EAI_AGAIN|ETIMEDOUT|ENETUNREACH|E403/.test(installed.stderr)) return false
  throw new Error(`npm install: ${installed.stdout}${installed.stderr}`)
}
