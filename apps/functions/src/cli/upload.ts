import { join } from 'node:path'
import { FILES, bundleFailed, bundleFolder, withImports, type DenoImports } from '@terrane/bundler'
import { readStatic } from '../build/static-files.ts'
import type { Policy } from '../policy.ts'
import { readFolderPolicy } from '../sources/folder-policy.ts'
import { callHost, type Target } from './client.ts'

/** A function in the form that is sent to a host. */
export interface Upload {
  readonly files: Readonly<Record<string, unknown>>
  readonly policy: Policy
  /** Absolute paths of the files that went into it. */
  readonly inputs: readonly string[]
  /** Imports that reject at run time. */
  readonly warnings: readonly string[]
}

/** Bundles the function of a folder. @throws FUNCTION_BUNDLE_FAILED, FUNCTION_POLICY_INVALID */
export async function readUpload(folder: string, imports: DenoImports | null): Promise<Upload> {
  const policy = await readFolderPolicy(folder)
  const {
    code,
    files: beside,
    inputs,
    warnings = [],
  } = await withImports((fetched) => bundleFolder(folder, fetched), imports && (() => imports.fetch(folder)))
  const files: Record<string, unknown> = { 'index.mjs': Buffer.from(code).toString('utf8') }
  const statics = await readStatic(folder, policy.static)
  for (const [path, bytes] of [...beside, ...statics]) {
    if (path in files) throw bundleFailed({ problems: [`static: '${path}' is the name of the bundle`] })
    files[path] = { base64: Buffer.from(bytes).toString('base64') }
  }
  // Files outside the folder of implicit files must be listed in the policy.
  const named = [...beside.keys()].filter((path) => !path.startsWith(`${FILES}/`))
  return {
    files,
    policy: { ...policy, static: [...policy.static, ...named] },
    inputs: [...inputs, ...[...statics.keys()].map((path) => join(folder, path))],
    warnings,
  }
}

/** Sends a function to a host and returns its new state as text. @throws CLI_FAILED with the host's message */
export async function sendUpload(
  target: Target,
  name: string,
  { files, policy }: Upload,
  isDryRun: boolean,
): Promise<string> {
  const query = isDryRun ? '?dry_run=true' : ''
  const { version, unchanged, digest } = (await callHost(target, 'PUT', `/functions/${name}${query}`, {
    files,
    policy,
  })) as { version: number | null; unchanged: boolean; digest: string }
  const what = unchanged ? 'unchanged' : version === null ? 'would be deployed' : 'deployed'
  return `${what}${version === null ? '' : `, version ${version}`} (${digest.slice(0, 12)})`
}
