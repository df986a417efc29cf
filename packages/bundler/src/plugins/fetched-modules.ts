import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import type { Plugin } from 'esbuild'
import { followImport, type ModuleGraph } from '../imports/module-graph.ts'
import { RESOLVED } from './specifiers.ts'

/** Name of the plugin, by which its warnings are recognised. */
export const FETCHED = 'fetched modules'
const NAMESPACE = 'fetched'
const UNFETCHED = 'unfetched'
const TRAILER = '\n// denoCacheMetadata='

/** The esbuild plugin that resolves imports to fetched files: modules by their address, packages by their version. */
export function fetchedModules(graph: ModuleGraph): Plugin {
  return {
    name: FETCHED,
    setup(build) {
      build.onResolve({ filter: /.*/ }, async ({ path, importer, namespace, kind }) => {
        if (kind === 'entry-point' || (namespace !== 'file' && namespace !== NAMESPACE)) return null
        const leads = followImport(graph, importer, path)
        const address = leads ?? whole(path, namespace === NAMESPACE ? importer : undefined)
        // A module that cannot be fetched fails the fetch, unless only `import()` leads there.
        const isRemote = /^https?:/.test(address) || (namespace === NAMESPACE && kind === 'dynamic-import')
        if (isRemote && !isKnown(graph, address))
          return { path: address, namespace: UNFETCHED, warnings: [{ text: unfetched(address, graph) }] }
        if (leads === null) return null
        const builtin = leads.startsWith('node:') || isBuiltin(leads)
        if (builtin) return { path: leads, external: true, sideEffects: false }
        const found = graph.packages[leads]
        if (found) return build.resolve(found.name, { kind, resolveDir: found.folder, pluginData: RESOLVED })
        return graph.modules[leads] ? { path: leads, namespace: NAMESPACE } : null
      })
      build.onLoad({ filter: /.*/, namespace: UNFETCHED }, ({ path }) => ({
        contents: `throw new TypeError(${JSON.stringify(unfetched(path, graph))})`,
      }))
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => {
        const { path: file, loader } = graph.modules[path]!
        return { contents: withoutTrailer(await readFile(file)), loader }
      })
    },
  }
}

function isKnown({ packages, modules }: ModuleGraph, address: string): boolean {
  return (
    packages[address] !== undefined ||
    modules[address] !== undefined ||
    isBuiltin(address) ||
    address.startsWith('data:')
  )
}

/** The full address of a specifier, which may be relative to the module at `base`. */
function whole(specifier: string, base: string | undefined): string {
  return base !== undefined && /^\.{0,2}\//.test(specifier) ? new URL(specifier, base).href : specifier
}

function unfetched(address: string, { failures }: ModuleGraph): string {
  return `import() of '${address}' rejects: ${failures[address] ?? 'it was not fetched'}`
}

/** Deno appends a line about the HTTP answer to cached files, which is invalid in JSON and WebAssembly. */
function withoutTrailer(bytes: Buffer): Buffer {
  const at = bytes.lastIndexOf(TRAILER)
  return at < 0 || bytes.indexOf('\n', at + 1) >= 0 ? bytes : bytes.subarray(0, at)
}
