import { existsSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * The folder of functions: the given one, or its subfolder `functions` if it is a Supabase project (`supabase`, or with
 * a config.toml).
 */
export function functionsRootOf(given: string): string {
  const inside = join(given, 'functions')
  const isProject = basename(given) === 'supabase' || existsSync(join(given, 'config.toml'))
  return isProject && existsSync(inside) ? inside : given
}
