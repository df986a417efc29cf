import semver from 'semver'
import type { JsonSettings } from './json-file.ts'

/**
 * Import map of the dependencies of a package.json, by their ranges, with those for development: bundled programs import both.
 * Local paths and other sources keep their names.
 */
export function importsOfDependencies(settings: JsonSettings | null): Record<string, string> {
  const imports: Record<string, string> = {}
  const { devDependencies, dependencies } = (settings ?? {}) as Record<string, object | undefined>
  for (const [name, range] of Object.entries<unknown>({ ...devDependencies, ...dependencies })) {
    if (typeof range !== 'string' || semver.validRange(range) === null) continue
    imports[name] = `npm:${name}@${range}`
    imports[`${name}/`] = `npm:/${name}@${range}/`
  }
  return imports
}
