import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ENTRIES, bundleFolder, readStatic } from '../bundle/bundle.ts'
import type { Archive } from '../bundle/archive.ts'
import { invalidPolicy } from '../errors.ts'
import { readPolicy, type Ceilings, type Policy } from '../policy.ts'

/** What a function's folder makes. */
export interface BuiltFolder {
  readonly archive: Archive
  readonly policy: Policy
  /** Variables of the function's own `.env`. */
  readonly secrets: Readonly<Record<string, string>>
  /** Every file whose change would make something else, existing or not; absolute paths. */
  readonly inputs: readonly string[]
}

/**
 * Builds the function in a folder: `index.ts`, `function.json`, `.env` and the static files.
 *
 * @throws FUNCTION_BUNDLE_FAILED, FUNCTION_POLICY_INVALID
 */
export async function buildFolder(folder: string, ceilings: Ceilings): Promise<BuiltFolder> {
  const policyFile = join(folder, 'function.json')
  const policy = readPolicy(await readJson(policyFile), ceilings)
  const [{ code, inputs }, files] = await Promise.all([bundleFolder(folder), readStatic(folder, policy.static)])
  const secrets = await readEnvFile(join(folder, '.env'))
  const fixed = fixedInputs(folder)
  const statics = [...files.keys()].map((path) => join(folder, path))
  return { archive: { code, files }, policy, secrets, inputs: [...fixed, ...inputs, ...statics] }
}

/** Files that count for a folder whatever is in it. */
export function fixedInputs(folder: string): string[] {
  return ['function.json', '.env', 'deno.json', ...ENTRIES].map((name) => join(folder, name))
}

/** Variables of a `.env` file; none when there is no file. */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return parseEnv(text) as Record<string, string>
}

async function readJson(path: string): Promise<unknown> {
  const text = await readFile(path, 'utf8').catch(() => '{}')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw invalidPolicy({ errors: [{ path: '/', message: `is not JSON: ${(error as Error).message}` }] })
  }
}
