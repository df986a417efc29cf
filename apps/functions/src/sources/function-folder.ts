import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { ENTRIES, readProjectRules, settingsFiles, type Bundle } from '@terrane/bundler'
import type { Archive } from '../build/archive.ts'
import { readStatic } from '../build/static-files.ts'
import { clampPolicy, type Ceilings, type Policy } from '../policy.ts'
import { readFolderPolicy } from './folder-policy.ts'

/** Result of building a function's folder. */
export interface BuiltFolder {
  readonly archive: Archive
  readonly bundle: Bundle
  readonly policy: Policy
  /** Variables of the function's own `.env`. */
  readonly secrets: Readonly<Record<string, string>>
  /** Every file that was read; absolute paths. */
  readonly inputs: readonly string[]
}

/**
 * Builds the function in a folder: `index.ts`, `function.json`, `.env` and the static files.
 *
 * @throws FUNCTION_BUNDLE_FAILED, FUNCTION_BUILD_LIMIT, FUNCTION_POLICY_INVALID
 */
export async function buildFolder(
  folder: string,
  ceilings: Ceilings,
  bundleFolder: (folder: string) => Promise<Bundle>,
): Promise<BuiltFolder> {
  const policy = clampPolicy(await readFolderPolicy(folder), ceilings)
  const [bundle, files] = await Promise.all([bundleFolder(folder), readStatic(folder, policy.static)])
  const secrets = await readOwnSecrets(folder)
  const statics = [...files.keys()].map((path) => join(folder, path))
  return {
    archive: { code: bundle.code, files: new Map([...files, ...bundle.files]) },
    bundle,
    policy,
    secrets,
    inputs: [...bundle.inputs, ...statics],
  }
}

/** Files that are inputs of every folder, existing or not. */
export function fixedInputs(folder: string): string[] {
  const own = ['function.json', ...OWN_SECRETS, ...ENTRIES].map((name) => join(folder, name))
  return [...own, join(folder, '..', '.env'), ...settingsFiles(folder)]
}

/**
 * The entry files that a folder may have, relative to it; null when config.toml names one, or is invalid, which the
 * build reports.
 */
export function usualEntries(folder: string): readonly string[] | null {
  try {
    return (readProjectRules(folder)?.entrypoint ?? null) === null ? ENTRIES : null
  } catch {
    return null
  }
}

/** False for a function that `config.toml` turns off. */
export function isEnabled(folder: string): boolean {
  try {
    return readProjectRules(folder)?.enabled !== false
  } catch {
    // The build reports the error.
    return true
  }
}

/** Variables of a function alone: Workers have them in `.dev.vars`. */
const OWN_SECRETS = ['.dev.vars', '.env'] as const

/** Paths of the variable files of one function, existing or not. */
export function secretsFiles(folder: string): string[] {
  return OWN_SECRETS.map((name) => join(folder, name))
}

/** Variables of the files in a function's own folder. */
export async function readOwnSecrets(folder: string): Promise<Record<string, string>> {
  const files = await Promise.all(secretsFiles(folder).map(readEnvFile))
  return Object.assign({}, ...files) as Record<string, string>
}

/** Variables of a `.env` file; none when there is no file. */
export async function readEnvFile(path: string): Promise<Record<string, string>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return parseEnv(text) as Record<string, string>
}
