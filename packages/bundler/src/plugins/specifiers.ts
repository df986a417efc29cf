import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import { relative } from 'node:path'
import type { OnResolveArgs, OnResolveResult, PartialMessage, Plugin, PluginBuild } from 'esbuild'
import semver from 'semver'

/** Target of a specifier after its scheme is parsed. */
export type Specifier =
  | { readonly kind: 'builtin'; readonly name: string }
  | {
      readonly kind: 'package'
      /** Package name with the imported subpath. */
      readonly name: string
      /** The command that installs it. */
      readonly install: string
      /** Requested version range; null: any. */
      readonly range: string | null
    }
  | { readonly kind: 'types' }
  | { readonly kind: 'address' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'other' }

/**
 * Parses the specifiers that Deno and Supabase users write: `npm:zod@4/mini`, `jsr:@std/assert@1`, `node:fs`, `fs`,
 * `https://…/mod.ts`. Packages come from node_modules; nothing is fetched while bundling.
 */
export function readSpecifier(path: string): Specifier {
  if (/\.d\.[cm]?ts$/.test(path)) return { kind: 'types' }
  if (isBuiltin(path)) return { kind: 'builtin', name: path.startsWith('node:') ? path : `node:${path}` }
  const npm = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(\/.*)?$/.exec(path)
  if (npm) {
    const [, name = '', version, sub = ''] = npm
    const install = `npm install ${version ? `${name}@${version}` : name}`
    return { kind: 'package', name: name + sub, install, range: version ?? null }
  }
  const jsr = /^jsr:\/?@([^/]+)\/([^/@]+)(?:@([^/]*))?(\/.*)?$/.exec(path)
  if (jsr) {
    const [, scope, name, version, sub = ''] = jsr
    const install = `npx jsr add @${scope}/${name}${version ? `@${version}` : ''}`
    return { kind: 'package', name: `@jsr/${scope}__${name}${sub}`, install, range: version ?? null }
  }
  if (/^https?:/.test(path)) return { kind: 'address' }
  if (path.startsWith('cloudflare:')) return { kind: 'refused', why: NO_CLOUDFLARE }
  if (path.endsWith('.node')) return { kind: 'refused', why: 'native add-ons do not run in a function' }
  return { kind: 'other' }
}

const NO_CLOUDFLARE =
  'this module of Cloudflare is not offered here; `cloudflare:workers`, `cloudflare:node`, `export default { fetch(request, env, ctx) }`, `caches` and `ctx.waitUntil` are'

/** The esbuild plugin for folders on disk: schemes as above, and the `imports` of a deno.json. */
export function specifiers(imports: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'specifiers',
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) => resolve(build, imports, args))
      build.onLoad({ filter: /.*/, namespace: 'types' }, () => ({ contents: '' }))
      build.onLoad({ filter: /.*/, namespace: ABSENT }, ({ path }) => ({ contents: failing(path) }))
    },
  }
}

/** Marks a name that is resolved already: no import map applies to it. */
export const RESOLVED = Symbol('resolved')
/** Modules that packages require but that are not installed. */
const ABSENT = 'absent'
/** Marks problems that fetching would fix. */
export const FETCHABLE = 'fetchable'

function from({ kind, importer, namespace, resolveDir }: OnResolveArgs) {
  return { kind, importer, namespace, resolveDir }
}

async function resolve(
  build: PluginBuild,
  imports: Readonly<Record<string, string>>,
  args: OnResolveArgs,
): Promise<OnResolveResult | null> {
  if (args.pluginData === RESOLVED || args.kind === 'entry-point') return null
  // The function's import map does not apply to imports inside packages.
  const path = isInPackage(args.importer) ? args.path : mapped(imports, args.path)
  const specifier = readSpecifier(path)
  // Also names the specifier in the file when an import map changes it.
  const written = path === args.path ? `'${path}'` : `'${path}', imported as '${args.path}',`
  switch (specifier.kind) {
    case 'types':
      return { path, namespace: 'types', sideEffects: false }
    case 'builtin':
      return { path: specifier.name, external: true, sideEffects: false }
    case 'refused': {
      // `./platform.node` may be `platform.node.js`.
      const found = path.startsWith('.') ? await build.resolve(path, { ...from(args), pluginData: RESOLVED }) : null
      if (found?.errors.length === 0 && !found.path.endsWith('.node')) return found
      return { errors: [{ text: `${written.replace(/,$/, '')}: ${specifier.why}` }] }
    }
    case 'address':
      return fetchable(`${written} is code from the network, and was not fetched`)
    case 'other':
      if (isInPackage(args.importer) && (args.kind === 'require-call' || args.kind === 'dynamic-import'))
        return (await isThere(build, args)) ? null : { path, namespace: ABSENT }
      if (path === args.path) return null
      return mappedFile(build, path, args)
    case 'package': {
      const { name, install, range } = specifier
      const found = await build.resolve(name, { kind: args.kind, resolveDir: args.resolveDir, pluginData: RESOLVED })
      const advice = `run \`${install}\` in the functions folder`
      if (found.errors.length > 0) return fetchable(`${written} is not installed: ${advice}`)
      const installed = range === null ? null : await versionAt(found.path, name)
      if (installed === null || isIn(installed, range!)) return found
      return fetchable(`${written} is not installed, but version ${installed}: ${advice}`)
    }
  }
}

/** The file that an import map refers to; errors show the specifier in the importing file. */
async function mappedFile(build: PluginBuild, path: string, args: OnResolveArgs): Promise<OnResolveResult> {
  const found = await build.resolve(path, { ...from(args), pluginData: RESOLVED })
  if (found.errors.length === 0) return found
  const place = path.startsWith('/') ? relative(args.resolveDir, path) : path
  const text = `Could not resolve "${args.path}", which the imports of deno.json or package.json lead to "${place}"`
  return { errors: [{ text }] }
}

/** Many packages require others only where they use them. A missing one then fails at that point, as in Node. */
async function isThere(build: PluginBuild, { path, kind, resolveDir }: OnResolveArgs): Promise<boolean> {
  const { errors } = await build.resolve(path, { kind, resolveDir, pluginData: RESOLVED })
  return errors.length === 0
}

function failing(path: string): string {
  const text = JSON.stringify(`Cannot find module '${path}'`)
  return `throw Object.assign(new Error(${text}), { code: 'MODULE_NOT_FOUND' })`
}

function fetchable(text: string): { errors: PartialMessage[] } {
  return { errors: [{ text, detail: FETCHABLE }] }
}

function isInPackage(path: string): boolean {
  return /[\\/]node_modules[\\/]/.test(path)
}

/** True for a version in a range, and for a range that cannot be compared (`latest`). */
function isIn(version: string, range: string): boolean {
  return semver.validRange(range) === null || semver.satisfies(version, range, { includePrerelease: true })
}

/** Version of an installed package, found from one of its files; null when unknown. */
async function versionAt(file: string, name: string): Promise<string | null> {
  const own = name
    .split('/')
    .slice(0, name.startsWith('@') ? 2 : 1)
    .join('/')
  const at = file.lastIndexOf(`/node_modules/${own}/`)
  if (at < 0) return null
  const text = await readFile(`${file.slice(0, at)}/node_modules/${own}/package.json`, 'utf8').catch(() => '{}')
  const { version } = JSON.parse(text) as { version?: unknown }
  return typeof version === 'string' ? version : null
}

/** Applies an import map: exact names, and prefixes that end in a slash (longest first). */
function mapped(imports: Readonly<Record<string, string>>, path: string): string {
  const exact = imports[path]
  if (exact !== undefined) return exact
  let best = ''
  for (const key of Object.keys(imports))
    if (key.endsWith('/') && path.startsWith(key) && key.length > best.length) best = key
  return best === '' ? path : `${imports[best]!.replace(/\/?$/, '/')}${path.slice(best.length)}`
}
