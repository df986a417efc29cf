import { readFile } from 'node:fs/promises'
import { isBuiltin } from 'node:module'
import type { Plugin } from 'esbuild'
import { followImport, type ModuleGraph } from '../imports/module-graph.ts'

const NAMESPACE = 'fetched'
const TRAILER = '\n// denoCacheMetadata='

/** The esbuild plugin that resolves imports to fetched files: modules by their address, packages by their version. */
export function fetchedModules(graph: ModuleGraph): Plugin {
  return {
    name: 'fetched modules',
    setup(build) {
      build.onResolve({ filter: /.*/ }, async ({ path, importer, namespace, kind }) => {
        if (kind === 'entry-point' || (namespace !== 'file' && namespace !== NAMESPACE)) return null
        const leads = followImport(graph, importer, path)
        // A module that could not be fetched fails where it is imported.
        const isAbsent = namespace === NAMESPACE && kind === 'dynamic-import' && !isKnown(graph, leads)
        if (isAbsent) return { path, external: true }
        if (leads === null) return null
        const builtin = leads.startsWith('node:') || isBuiltin(leads)
        if (builtin) return { path: leads, external: true, sideEffects: false }
        const found = graph.packages[leads]
        if (found) return build.resolve(found.name, { kind, resolveDir: found.folder })
        return graph.modules[leads] ? { path: leads, namespace: NAMESPACE } : null
      })
      build.onLoad({ filter: /.*/, namespace: NAMESPACE }, async ({ path }) => {
        const { path: file, loader } = graph.modules[path]!
        return { contents: withoutTrailer(await readFile(file)), loader }
      })
    },
  }
}

function isKnown({ packages, modules }: ModuleGraph, leads: string | null): boolean {
  if (leads === null) return false
  return packages[leads] !== undefined || modules[leads] !== undefined || leads.startsWith('node:') || isBuiltin(leads)
}

/** Deno appends a line about the HTTP answer to cached files, which is invalid in JSON and WebAssembly. */
function withoutTrailer(bytes: Buffer): Buffer {
  const at = bytes.lastIndexOf(TRAILER)
  return at < 0 || bytes.indexOf('\n', at + 1) >= 0 ? bytes : bytes.subarray(0, at)
}
