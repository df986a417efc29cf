import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'

/** The folder of functions: the given one, or that in the folder of a Supabase project, whose config.toml may be absent. */
export function functionsRootOf(given: string): string {
  const inside = join(given, 'functions')
  const isProject = basename(given) === 'supabase' || existsSync(join(given, 'config.toml'))
  return isProject && existsSync(inside) ? inside : given
}
