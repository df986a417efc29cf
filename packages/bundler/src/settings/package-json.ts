import { existsSync } from 'node:fs'
import { glob, readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import semver from 'semver'
import type { JsonSettings } from './json-file.ts'

/** Ranges of packages by the name of their catalog, `default` for the one without a name. */
export type Catalogs = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Settings name the package of their JSX runtime, which no source imports. */
const SOURCES = ['**/*.{ts,tsx,mts,cts,js,jsx,mjs,cjs}', '**/{tsconfig,deno}.{json,jsonc}']
const MOST_SOURCES = 2000

/**
 * Import map of the dependencies of a package.json, by their ranges. Those for development are in it where a source
 * names them and they are not installed: bundled programs import both. Local paths and other sources keep their names.
 *
 * @param folder of the function
 * @param options catalogs of the workspace, for ranges such as `catalog:`; folder of the sources, absent: `folder`
 */
export async function importsOfDependencies(
  settings: JsonSettings | null,
  folder: string,
  { catalogs, sources = folder }: { readonly catalogs: Catalogs; readonly sources?: string },
): Promise<Record<string, string>> {
  const imports: Record<string, string> = {}
  const { devDependencies, dependencies } = (settings ?? {}) as Record<string, Record<string, unknown> | undefined>
  const absent = Object.keys({ ...devDependencies }).filter((name) => !isInstalled(name, folder))
  const tools = absent.length > 0 ? await namedInSources(absent, sources) : []
  for (const [name, given] of [
    ...tools.map((tool) => [tool, devDependencies![tool]] as const),
    ...Object.entries({ ...dependencies }),
  ]) {
    const range = rangeOf(name, given, catalogs)
    if (typeof range !== 'string' || semver.validRange(range) === null) continue
    imports[name] = `npm:${name}@${range}`
    imports[`${name}/`] = `npm:/${name}@${range}/`
  }
  return imports
}

function rangeOf(name: string, given: unknown, catalogs: Catalogs): unknown {
  const catalog = typeof given === 'string' ? /^catalog:(.*)$/.exec(given)?.[1] : undefined
  return catalog === undefined ? given : catalogs[catalog || 'default']?.[name]
}

function isInstalled(name: string, folder: string): boolean {
  if (existsSync(join(folder, 'node_modules', name, 'package.json'))) return true
  return folder !== dirname(folder) && isInstalled(name, dirname(folder))
}

/**
 * The names that occur in the sources of a folder; all in a folder with more than {@link MOST_SOURCES}. The others, such
 * as linters, may be private or take minutes to fetch.
 */
async function namedInSources(names: readonly string[], folder: string): Promise<readonly string[]> {
  const found = new Set<string>()
  let read = 0
  for await (const path of glob(SOURCES, { cwd: folder, exclude: ['**/node_modules', '**/*.d.ts', '*.config.*'] })) {
    if (++read > MOST_SOURCES || found.size === names.length) return names
    const text = await readFile(join(folder, path), 'utf8').catch(() => '')
    for (const name of names)
      if ([`'${name}`, `"${name}`, `@jsxImportSource ${name}`].some((mention) => text.includes(mention)))
        found.add(name)
  }
  return [...found]
}
