import { glob, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { isInside } from '../bundle/static-files.ts'
import { readSupabaseRules, type SupabaseRules } from '../bundle/supabase-config.ts'
import { bundleFailed, invalidPolicy } from '../errors.ts'
import { METHODS, parsePolicy, type Policy } from '../policy.ts'

/**
 * What `config.toml` of a Supabase project means for a function: all methods and hosts, and the service key for the
 * function to send itself, as it has them there.
 */
export function defaultsOf(rules: SupabaseRules | null): Partial<Policy> {
  if (!rules) return {}
  return { auth: rules.verifyJwt ? 'anon' : 'none', methods: [...METHODS], net: ['*'], privileged: 'key' }
}

/**
 * The policy of a function's folder: its `function.json`, with the rules of a Supabase project in the place of defaults.
 *
 * @throws FUNCTION_POLICY_INVALID, FUNCTION_BUNDLE_FAILED
 */
export async function readFolderPolicy(folder: string): Promise<Policy> {
  const rules = readSupabaseRules(folder)
  const text = await readFile(join(folder, 'function.json'), 'utf8').catch(() => '{}')
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch (error) {
    throw invalidPolicy({ errors: [{ path: '/', message: `is not JSON: ${(error as Error).message}` }] })
  }
  if (!rules || given === null || typeof given !== 'object' || Array.isArray(given)) return parsePolicy(given)
  const policy = parsePolicy({ ...defaultsOf(rules), ...given })
  return { ...policy, static: [...new Set([...policy.static, ...(await staticOf(folder, rules))])] }
}

async function staticOf(folder: string, { staticFiles }: SupabaseRules): Promise<string[]> {
  const found: string[] = []
  for (const pattern of staticFiles) {
    const paths: string[] = []
    for await (const path of glob(pattern, { withFileTypes: true }))
      if (path.isFile()) paths.push(relative(folder, join(path.parentPath, path.name)))
    const outside = paths.find((path) => !isInside(path))
    if (paths.length === 0 || outside !== undefined) {
      const name = relative(folder, pattern)
      const why = outside === undefined ? 'there is no such file' : `'${outside}' lies outside of the function's folder`
      throw bundleFailed({ problems: [`config.toml: static_files '${name}': ${why}`] })
    }
    found.push(...paths.toSorted())
  }
  return found
}
