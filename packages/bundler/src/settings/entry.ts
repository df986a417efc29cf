import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { bundleFailed } from '../errors.ts'

/** File names of a function's entry. The first that exists is used. */
export const ENTRIES = ['index.ts', 'index.tsx', 'index.mts', 'index.js', 'index.mjs', 'index.jsx'] as const

/**
 * The file that a function begins with, relative to its folder.
 *
 * @param configured absolute path that `config.toml` names; null: the first of {@link ENTRIES}
 * @throws FUNCTION_BUNDLE_FAILED when there is none
 */
export async function entryOf(folder: string, configured: string | null): Promise<string> {
  if (configured !== null) {
    const entry = relative(folder, configured)
    if (await stat(join(folder, entry)).catch(() => null)) return entry
    throw bundleFailed({ problems: [`config.toml: there is no file '${entry}', the entrypoint`] })
  }
  return entryAmong(new Set(await readdir(folder).catch(() => [])))
}

/** The entry among file names. @throws FUNCTION_BUNDLE_FAILED when there is none */
export function entryAmong(names: { has(name: string): boolean }): string {
  const entry = ENTRIES.find((name) => names.has(name))
  if (entry === undefined) throw bundleFailed({ problems: [`there is none of ${ENTRIES.join(', ')}`] })
  return entry
}
