import { readFile } from 'node:fs/promises'
import { extname, sep } from 'node:path'
import { transform, type Loader } from 'esbuild'

/** Hosts and variables that the sources of a function name. */
export interface Wants {
  /** Hosts of the URLs in its own sources. */
  readonly hosts: readonly string[]
  /** Variables that they read. */
  readonly variables: readonly string[]
}

const LOADERS: Readonly<Record<string, Loader>> = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.js': 'js',
  '.mjs': 'js',
  '.cjs': 'js',
  '.jsx': 'jsx',
}
/** An address in a text. */
const ADDRESS = /["'`](?:https?|wss?):\/\/([a-z0-9.-]{4,253})(?=[:/"'`?#$])/gi
const HOST = /^[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){0,9}\.[a-z]{2,63}$/i
/** Text before the address of a module. */
const MODULE = /(?:from|import|import\()$/
const VARIABLE = /\benv(?:\.get\(\s*["'`]|\[["'`]|\.)([A-Z][A-Z0-9_]*)/g
/** Hosts of XML namespaces and JSON schemas, which are names and not requested. */
const NAMESPACES = /(?:^|\.)(?:w3|schema|json-schema)\.org$/

/** @param inputs files of a bundle. @param within folder of the project: only files below it are looked at, without packages */
export async function wantsOf(inputs: readonly string[], within: string): Promise<Wants> {
  const hosts = new Set<string>()
  const variables = new Set<string>()
  for (const file of inputs) {
    const loader = LOADERS[extname(file)]
    if (loader === undefined || !file.startsWith(within + sep) || /[\\/](?:node_modules|\.terrane)[\\/]/.test(file))
      continue
    const text = await readFile(file, 'utf8').catch(() => '')
    // Without comments.
    const { code } = await transform(text, { loader, legalComments: 'none' }).catch(() => ({ code: text }))
    for (const { 1: host = '', index } of code.matchAll(ADDRESS)) {
      const before = code.slice(Math.max(0, index - 20), index).trimEnd()
      if (HOST.test(host) && !MODULE.test(before) && !NAMESPACES.test(host)) hosts.add(host.toLowerCase())
    }
    for (const [, name = ''] of code.matchAll(VARIABLE)) variables.add(name)
  }
  return { hosts: [...hosts].toSorted(), variables: [...variables].toSorted() }
}
