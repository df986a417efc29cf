import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The folder of functions: the given one, or that in the folder of a Supabase project. */
export function functionsRootOf(given: string): string {
  const inside = join(given, 'functions')
  return existsSync(join(given, 'config.toml')) && existsSync(inside) ? inside : given
}
