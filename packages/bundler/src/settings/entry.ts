import { readdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { bundleFailed } from '../errors.ts'
import type { ProjectRules } from './project-rules.ts'

/** File names of a function's entry. The first that exists is used. */
export const ENTRIES = ['index.ts', 'index.tsx', 'index.mts', 'index.js', 'index.mjs', 'index.jsx'] as const

/**
 * The entry file of a function, relative to its folder.
 *
 * @param rules of its project: their entry, else the first existing one of {@link ENTRIES}
 * @throws FUNCTION_BUNDLE_FAILED when there is none
 */
export async function entryOf(
  folder: string,
  rules: Pick<ProjectRules, 'entrypoint' | 'worker'> | null,
): Promise<string> {
  if (!rules || rules.entrypoint === null) return entryAmong(new Set(await readdir(folder).catch(() => [])))
  const entry = relative(folder, rules.entrypoint)
  if (await stat(join(folder, entry)).catch(() => null)) return entry
  const named = rules.worker
    ? `wrangler: main: there is no file '${entry}'`
    : `config.toml: there is no file '${entry}', the entrypoint`
  throw bundleFailed({ problems: [named] })
}

/** The entry among file names. @throws FUNCTION_BUNDLE_FAILED when there is none */
export function entryAmong(names: { has(name: string): boolean }): string {
  const entry = ENTRIES.find((name) => names.has(name))
  if (entry === undefined) throw bundleFailed({ problems: [`there is none of ${ENTRIES.join(', ')}`] })
  return entry
}
