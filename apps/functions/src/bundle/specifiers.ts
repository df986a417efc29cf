import { isBuiltin } from 'node:module'
import type { OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild'

/** Where a specifier leads once its scheme is understood. */
export type Specifier =
  | { readonly kind: 'builtin'; readonly name: string }
  | { readonly kind: 'package'; readonly name: string; readonly install: string }
  | { readonly kind: 'types' }
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'other' }

/**
 * Understands the specifiers that Deno and Supabase users write: `npm:zod@4/mini`, `jsr:@std/assert@1`, `node:fs`,
 * `fs`. Packages come from node_modules; nothing is fetched while bundling.
 */
export function readSpecifier(path: string): Specifier {
  if (/\.d\.[cm]?ts$/.test(path)) return { kind: 'types' }
  if (isBuiltin(path)) return { kind: 'builtin', name: path.startsWith('node:') ? path : `node:${path}` }
  const npm = /^npm:\/?((?:@[^/@]+\/)?[^/@]+)(?:@([^/]*))?(\/.*)?$/.exec(path)
  if (npm) {
    const [, name = '', version, sub = ''] = npm
    return { kind: 'package', name: name + sub, install: version ? `${name}@${version}` : name }
  }
  const jsr = /^jsr:\/?@([^/]+)\/([^/@]+)(?:@([^/]*))?(\/.*)?$/.exec(path)
  if (jsr) {
    const [, scope, name, , sub = ''] = jsr
    return { kind: 'package', name: `@jsr/${scope}__${name}${sub}`, install: `jsr:@${scope}/${name}` }
  }
  if (/^https?:/.test(path)) {
    return { kind: 'refused', why: 'code is not imported from the network: install the package or copy the file' }
  }
  if (path.endsWith('.node')) return { kind: 'refused', why: 'native add-ons do not run in a function' }
  return { kind: 'other' }
}

/** The esbuild plugin for folders on disk: schemes as above, and the `imports` of a deno.json. */
export function specifiers(imports: Readonly<Record<string, string>>): Plugin {
  return {
    name: 'specifiers',
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) => resolve(build, imports, args))
      build.onLoad({ filter: /.*/, namespace: 'types' }, () => ({ contents: '' }))
    },
  }
}

const OURS = Symbol('resolved by this plugin')

async function resolve(
  build: PluginBuild,
  imports: Readonly<Record<string, string>>,
  args: OnResolveArgs,
): Promise<OnResolveResult | null> {
  if (args.pluginData === OURS || args.kind === 'entry-point') return null
  const path = mapped(imports, args.path)
  const specifier = readSpecifier(path)
  switch (specifier.kind) {
    case 'types':
      return { path, namespace: 'types', sideEffects: false }
    case 'builtin':
      return { path: specifier.name, external: true, sideEffects: false }
    case 'refused':
      return { errors: [{ text: `'${path}': ${specifier.why}` }] }
    case 'other':
      if (path === args.path) return null
      return build.resolve(path, { kind: args.kind, resolveDir: args.resolveDir, pluginData: OURS })
    case 'package': {
      const found = await build.resolve(specifier.name, {
        kind: args.kind,
        resolveDir: args.resolveDir,
        pluginData: OURS,
      })
      if (found.errors.length === 0) return found
      const text = `'${path}' is not installed: run \`npm install ${specifier.install}\` in the functions folder`
      return { errors: [{ text }] }
    }
  }
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
