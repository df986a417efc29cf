import { posix } from 'node:path'
import type { Loader, Plugin } from 'esbuild'
import { asMain } from './deno-sources.ts'
import { readSpecifier } from './specifiers.ts'

const EXTENSIONS = ['', '.ts', '.tsx', '.mts', '.js', '.mjs', '.jsx', '.json', '/index.ts', '/index.js'] as const
/** How files that are not code are imported. */
export const DATA_LOADERS: Readonly<Record<string, Loader>> = {
  '.txt': 'text',
  '.html': 'text',
  '.md': 'text',
  '.sql': 'text',
  '.wasm': 'binary',
}
const LOADERS: Readonly<Record<string, Loader>> = {
  ...DATA_LOADERS,
  '.ts': 'ts',
  '.mts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
  '.json': 'json',
}

/**
 * The esbuild plugin for uploaded files: every import is looked up among them and nowhere else, so that an upload
 * cannot read the host's disk.
 *
 * @param advice added to the error of an import of a package
 */
export function uploaded(files: ReadonlyMap<string, Uint8Array>, entry: string, advice: string): Plugin {
  return {
    name: 'uploaded',
    setup(build) {
      build.onResolve({ filter: /.*/ }, (args) => {
        if (args.kind === 'entry-point') return { path: args.path, namespace: 'uploaded' }
        const specifier = readSpecifier(args.path)
        if (specifier.kind === 'types') return { path: args.path, namespace: 'types', sideEffects: false }
        if (specifier.kind === 'builtin') return { path: specifier.name, external: true, sideEffects: false }
        if (specifier.kind === 'refused') return { errors: [{ text: `'${args.path}': ${specifier.why}` }] }
        if (specifier.kind === 'package' || !/^\.{0,2}\//.test(args.path)) {
          const more = advice === '' ? '' : `; ${advice}`
          return { errors: [{ text: `'${args.path}' is not part of the upload${more}` }] }
        }
        const wanted = posix.join(posix.dirname(args.importer), args.path)
        const found = EXTENSIONS.map((extension) => wanted + extension).find((path) => files.has(path))
        if (found === undefined) return { errors: [{ text: `'${args.path}' is not part of the upload` }] }
        return { path: found, namespace: 'uploaded' }
      })
      build.onLoad({ filter: /.*/, namespace: 'types' }, () => ({ contents: '' }))
      build.onLoad({ filter: /.*/, namespace: 'uploaded' }, ({ path }) => ({
        contents: path === entry ? asMain(Buffer.from(files.get(path)!).toString()) : (files.get(path) ?? ''),
        loader: LOADERS[posix.extname(path)] ?? 'js',
      }))
    },
  }
}
