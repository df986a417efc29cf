import { dirname, join } from 'node:path'

/** Absolute paths, from a folder up to the root, of files that change when packages are installed. */
export function packagePlaces(folder: string, missing: readonly string[]): string[] {
  const places: string[] = []
  for (let at = folder, above = ''; at !== above && places.length < 400; above = at, at = dirname(at)) {
    for (const file of ['.package-lock.json', '.modules.yaml']) places.push(join(at, 'node_modules', file))
    for (const name of missing) places.push(join(at, 'node_modules', name, 'package.json'))
  }
  return places
}
