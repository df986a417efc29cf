import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import semver from 'semver'
import type { JsonSettings } from './json-file.ts'

/**
 * Import map of the dependencies of a package.json, by their ranges, with those for development that are not installed: bundled programs import
 * both. Local paths and other sources keep their names.
 */
export function importsOfDependencies(settings: JsonSettings | null, folder: string): Record<string, string> {
  const imports: Record<string, string> = {}
  const { devDependencies, dependencies } = (settings ?? {}) as Record<string, object | undefined>
  const tools = Object.entries<unknown>({ ...devDependencies }).filter(([name]) => !isInstalled(name, folder))
  for (const [name, range] of Object.entries<unknown>({ ...Object.fromEntries(tools), ...dependencies })) {
    if (typeof range !== 'string' || semver.validRange(range) === null) continue
    imports[name] = `npm:${name}@${range}`
    imports[`${name}/`] = `npm:/${name}@${range}/`
  }
  return imports
}

function isInstalled(name: string, folder: string): boolean {
  if (existsSync(join(folder, 'node_modules', name, 'package.json'))) return true
  return folder !== dirname(folder) && isInstalled(name, dirname(folder))
}
