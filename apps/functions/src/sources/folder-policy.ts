import { glob } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { bundleFailed, readProjectRules, type ProjectRules } from '@terrane/bundler'
import { isInside } from '../build/static-files.ts'
import { isSecretName, readBindings } from '../bindings.ts'
import { METHODS, parsePolicy, type Policy } from '../policy.ts'
import { readFunctionJson } from './function-json.ts'

/**
 * Defaults for a function from the settings of a Supabase project or a Worker: all methods and hosts are allowed, as on
 * these platforms. Functions of Supabase have the service key and send it themselves; Workers have their bindings,
 * crons and queue. A Worker with its own `function.json` has the access rules of that file.
 *
 * @param given the contents of its `function.json`; empty where there is none
 */
export function defaultsOf(rules: ProjectRules | null, given: object): Partial<Policy> {
  if (!rules) return {}
  const open: Partial<Policy> = { auth: rules.verifyJwt ? 'anon' : 'none', methods: [...METHODS], net: ['*'] }
  const { worker, maxChain } = rules
  const chain = maxChain === null ? {} : { max_chain: maxChain }
  if (!worker) return { ...open, ...chain, privileged: 'key' }
  const { bindings, schedule, consumer } = worker
  return {
    ...(Object.keys(given).length === 0 && { ...open, cors: [] }),
    ...chain,
    bindings: bindings.filter((binding) => !isReservedBinding(binding)),
    schedule: [...new Set(schedule)],
    ...(consumer && { queue: consumer.queue, batch: consumer.batch, attempts: consumer.attempts }),
  }
}

/** True for a member of `env` whose name only the host sets. */
export function isReservedBinding(binding: string): boolean {
  const [{ kind, name } = { kind: '', name: '' }] = readBindings([binding])
  return kind !== 'worker' && !isSecretName(name)
}

/**
 * The policy of a function's folder: its `function.json`, with the rules of a Supabase project or a Worker in the place of defaults.
 *
 * @throws FUNCTION_POLICY_INVALID, FUNCTION_BUNDLE_FAILED
 */
export async function readFolderPolicy(folder: string): Promise<Policy> {
  const rules = readProjectRules(folder)
  const given = readFunctionJson(folder)
  if (!rules || given === null || typeof given !== 'object' || Array.isArray(given)) return parsePolicy(given)
  const policy = parsePolicy({ ...defaultsOf(rules, given), ...given })
  return { ...policy, static: [...new Set([...policy.static, ...(await staticOf(folder, rules))])] }
}

async function staticOf(folder: string, { staticFiles }: ProjectRules): Promise<string[]> {
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
