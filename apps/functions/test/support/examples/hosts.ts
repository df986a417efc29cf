import { createHash } from 'node:crypto'
import { execFile } from 'node:child_process'
import { mkdir, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { join, posix } from 'node:path'
import { promisify } from 'node:util'
import { build, type Plugin } from 'esbuild'
import semver from 'semver'
import stripJsonComments from 'strip-json-comments'
import type { Repositories } from './repositories.ts'

const run = promisify(execFile)

/** Answer of a module host: a file, or a redirect. */
export type Served = { readonly body: Buffer | string; readonly type: string } | { readonly location: string } | null
export type ModuleHost = (url: URL) => Promise<Served>

/** Modules of deno.land/x: the repository of each, and the folder of it that is published. */
const REGISTERED: Readonly<Record<string, { readonly repository: string; readonly folder: string }>> = {
  oak: { repository: 'oakserver/oak', folder: '' },
  jose: { repository: 'panva/jose', folder: 'dist/deno/' },
  postgres: { repository: 'denodrivers/postgres', folder: '' },
  redis: { repository: 'denodrivers/redis', folder: '' },
  grammy: { repository: 'grammyjs/grammY', folder: 'src/' },
  xhr: { repository: 'kitsonk/xhr', folder: '' },
  og_edge: { repository: 'ascorbic/og-edge', folder: '' },
  std: { repository: 'denoland/std', folder: '' },
  deno_dom: { repository: 'b-fuze/deno-dom', folder: '' },
  zod: { repository: 'colinhacks/zod', folder: 'deno/lib/' },
  bcrypt: { repository: 'JamesBroadberry/deno-bcrypt', folder: '' },
  imagescript: { repository: 'matmen/ImageScript', folder: '' },
  dotenv: { repository: 'pietvanzoen/deno-dotenv', folder: '' },
  media_types: { repository: 'oakserver/media_types', folder: '' },
  path_to_regexp: { repository: 'pillarjs/path-to-regexp', folder: 'src/' },
}
/** The last version of each that is on deno.land. */
const LATEST: Readonly<Record<string, string>> = { std: '0.224.0', oak: 'v17.1.6', redis: 'v0.41.0', og_edge: '0.0.6' }

/** deno.land: `/std@{version}/…` and `/x/{name}@{version}/…`, without a version the last one. */
export function denoLand(repositories: Repositories): ModuleHost {
  return async ({ pathname }) => {
    const [, prefix = '', name = '', version, path = ''] =
      /^\/(?:(x)\/)?([\w.-]+)(?:@([^/]+))?\/(.*)$/.exec(pathname) ?? []
    const registered = REGISTERED[name]
    if (!registered) return null
    const { repository, folder } = registered
    if (version === undefined || !/^v?\d+\.\d+\.\d+/.test(version)) {
      const wanted = await newest(repositories, repository, name, version)
      return wanted === null ? null : { location: `/${prefix === '' ? '' : 'x/'}${name}@${wanted}/${path}` }
    }
    const body = await repositories.read(repository, version, folder + path)
    return body && { body, type: typeOf(path) }
  }
}

async function newest(repositories: Repositories, repository: string, name: string, range = '*') {
  const latest = LATEST[name]
  if (range === '*' && latest !== undefined) return latest
  const tags = await repositories.tags(repository)
  return tags.find((tag) => semver.valid(tag) !== null && semver.satisfies(tag, range.replace(/^v/, ''))) ?? null
}

/** lib.deno.dev: `/x/{name}@{range}/…` leads to deno.land. */
export function libDenoDev(): ModuleHost {
  return async ({ pathname }) => ({ location: `https://deno.land${pathname}` })
}

/** JSR: `std` and `oak` of their repositories, with the imports of their import maps written out as JSR publishes them. */
export function jsr(repositories: Repositories): ModuleHost {
  return async ({ pathname }) => {
    const [, scope, name = '', rest = ''] = /^\/@(std|oak)\/([\w-]+)\/(.*)$/.exec(pathname) ?? []
    if (scope === undefined) return null
    const { repository, folder } = publishedAt(scope, name)
    const versions = await versionsOf(repositories, repository, folder)
    if (rest === 'meta.json') {
      const listed = Object.fromEntries([...versions.keys()].map((version) => [version, {}]))
      return json({ scope, name, latest: [...versions.keys()][0], versions: listed })
    }
    const meta = /^(\d[^/]*)_meta\.json$/.exec(rest)?.[1]
    const [, version = meta ?? '', path = ''] = /^(\d[^/]*)\/(.*)$/.exec(rest) ?? []
    const ref = versions.get(version)
    if (ref === undefined) return null
    if (meta !== undefined) return json(await describe(repositories, repository, ref, folder))
    const body = await repositories.read(repository, ref, folder + path)
    return body && { body: published(body, path), type: typeOf(path) }
  }
}

function publishedAt(scope: string, name: string): { repository: string; folder: string } {
  if (scope === 'std') return { repository: 'denoland/std', folder: `${name.replaceAll('-', '_')}/` }
  return { repository: name === 'commons' ? 'oakserver/commons' : 'oakserver/oak', folder: '' }
}

/** Versions of a package, newest first, by the commit that holds each. */
async function versionsOf(repositories: Repositories, repository: string, folder: string) {
  const versions = new Map<string, string>()
  for (const ref of ['HEAD', '0.223.0']) {
    const text = await repositories.read(repository, ref, `${folder}deno.json`)
    if (text) versions.set((JSON.parse(text.toString('utf8')) as { version: string }).version, ref)
  }
  return versions
}

async function describe(repositories: Repositories, repository: string, ref: string, folder: string) {
  const text = (await repositories.read(repository, ref, `${folder}deno.json`))!
  const { exports } = JSON.parse(text.toString('utf8')) as { exports: string | Record<string, string> }
  const paths = await repositories.list(repository, ref, folder === '' ? [] : [folder])
  const manifest: Record<string, object> = {}
  for (const path of paths) {
    if (!/\.(?:ts|json|js|mjs|wasm)$/.test(path) || /(?:_test|\.test|_bench)\.ts$|^examples\//.test(path)) continue
    const body = published((await repositories.read(repository, ref, path))!, path)
    const checksum = `sha256-${createHash('sha256').update(body).digest('hex')}`
    manifest[`/${path.slice(folder.length)}`] = { size: body.length, checksum }
  }
  return { manifest, exports: typeof exports === 'string' ? { '.': exports } : exports }
}

/** Replaces bare names of a workspace by addresses, as publishing does. */
function published(body: Buffer, path: string): Buffer {
  if (path.endsWith('deno.json')) return Buffer.from(stripJsonComments(body.toString('utf8'), { trailingCommas: true }))
  if (!/\.(?:ts|js|mjs)$/.test(path)) return body
  const text = body.toString('utf8').replace(/(from\s+|import\s+|import\()(["'])@(std|oak)\//g, '$1$2jsr:@$3/')
  return Buffer.from(text.replace(/(["'])jsr:@(std|oak)\/([\w-]+)(?=[/"'])/g, '$1jsr:@$2/$3'))
}

/** esm.sh: packages of npm as one ES module each. */
export function esmSh(home: string): ModuleHost {
  const built = new Map<string, Promise<Served>>()
  return async ({ pathname }) => {
    const [, name = '', version = 'latest', part = ''] =
      /^\/((?:@[\w.-]+\/)?[\w.-]+)(?:@([^/]+))?(\/.*)?$/.exec(pathname) ?? []
    if (name === '') return null
    let module = built.get(pathname)
    if (!module)
      built.set(pathname, (module = install(home, name, version).then((folder) => bundlePackage(folder, name, part))))
    return module
  }
}

/** Built-in modules under the names that Deno takes. */
export const builtins: Plugin = {
  name: 'built-in modules',
  setup(bundler) {
    bundler.onResolve({ filter: /^[a-z]/ }, ({ path }) =>
      isBuiltin(path) ? { path: path.startsWith('node:') ? path : `node:${path}`, external: true } : null,
    )
  },
}

async function bundlePackage(folder: string, name: string, part: string): Promise<Served> {
  const from = JSON.stringify(name + part)
  if (/\.(?:wasm|ttf|woff)$/.test(part))
    return { body: await readFile(join(folder, 'node_modules', name, part)), type: typeOf(part) }
  const names = await namesOf(folder, name + part)
  // Export names of a CommonJS package, which its bundle lacks.
  const listed = names.filter((each) => each !== 'default' && each !== 'module.exports' && /^[\w$]+$/.test(each))
  const named =
    listed.length > 0
      ? `const { ${listed.map((each, at) => `${each}: n${at}`).join(', ')} } = { ...all.default, ...all }; export { ${listed.map((each, at) => `n${at} as ${each}`).join(', ')} }`
      : `export * from ${from}`
  const contents = `import * as all from ${from}; ${named}; export default all.default ?? all`
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    conditions: ['deno', 'worker'],
    plugins: [builtins],
    loader: { '.wasm': 'binary' },
    logLevel: 'silent',
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const { text } = outputFiles[0]!
  return { body: text.includes('Dynamic require of') ? REQUIRE + text : text, type: 'application/javascript' }
}

/** Built-in modules that CommonJS packages require. */
const REQUIRE = `import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);\n`

/** Names that a package exports to Node; none where it cannot be imported there. */
async function namesOf(folder: string, name: string): Promise<readonly string[]> {
  const code = `import(${JSON.stringify(name)}).then((all) => { console.log('\\n' + JSON.stringify(Object.keys(all))); process.exit() })`
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { cwd: folder }).catch(() => ({
    stdout: '[]',
  }))
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as string[]
}

/** jsdelivr: `/npm/{name}@{version}` is the file that the package names for it, `/npm/{name}@{version}/…` that file. */
export function jsdelivr(home: string): ModuleHost {
  return async ({ pathname }) => {
    const [, name = '', version = 'latest', part] =
      /^\/npm\/((?:@[\w.-]+\/)?[\w.-]+)@([^/]+)(?:\/(.*))?$/.exec(pathname) ?? []
    if (name === '') return null
    const place = join(await install(home, name, version), 'node_modules', name)
    const about = JSON.parse(await readFile(join(place, 'package.json'), 'utf8')) as Record<string, string>
    const file = part ?? about['jsdelivr'] ?? about['module'] ?? about['main']!
    return { body: await readFile(join(place, file)), type: typeOf(file) }
  }
}

const installed = new Map<string, Promise<string>>()

/** One folder per package and version, without its install scripts. */
export function install(home: string, name: string, version: string): Promise<string> {
  const folder = join(home, `${name.replace('/', '+')}@${version}`)
  let installing = installed.get(folder)
  if (!installing) installed.set(folder, (installing = installInto(folder, `${name}@${version}`)))
  return installing
}

async function installInto(folder: string, wanted: string): Promise<string> {
  if (await stat(join(folder, 'done')).catch(() => null)) return folder
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true}')
  await run('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', wanted], { cwd: folder })
  await readdir(join(folder, 'node_modules'))
  await writeFile(join(folder, 'done'), '')
  return folder
}

export function json(value: unknown): Served {
  return { body: JSON.stringify(value), type: 'application/json' }
}

function typeOf(path: string): string {
  const types: Record<string, string> = {
    '.ts': 'application/typescript',
    '.tsx': 'text/tsx',
    '.json': 'application/json',
  }
  return types[posix.extname(path)] ?? (path.endsWith('.wasm') ? 'application/wasm' : 'application/javascript')
}
