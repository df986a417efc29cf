import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The content of the JSON files of this folder. In a package for npm this module imports them (infra/packaging). */
export const FILES: readonly unknown[] = readdirSync(import.meta.dirname)
  .filter((name) => name.endsWith('.json'))
  .map((name) => JSON.parse(readFileSync(join(import.meta.dirname, name), 'utf8')) as unknown)
