import { spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'

const PEERS = resolve(import.meta.dirname, '../../../../infra/peers')
/** Messages of pnpm when a registry cannot be reached. */
const UNREACHABLE = /error sending request|client error \(Connect\)|META_FETCH_FAIL|E403/

/**
 * The `node_modules` of a folder of infra/peers (`functions`), installed as its lock file says; null where the registry
 * cannot be reached.
 *
 * @throws an error with the output of pnpm where the install fails for another reason
 */
export function installPeers(name: string): string | null {
  const folder = join(PEERS, name)
  const packages = join(folder, 'node_modules')
  const args = ['install', '--ignore-workspace', '--frozen-lockfile', '--ignore-scripts', '--dir', folder]
  const install = (...more: string[]) => spawnSync('pnpm', [...args, ...more], { encoding: 'utf8' })
  // Installed packages may belong to an earlier lock file. Otherwise this takes a second, without network.
  if (install('--offline').status === 0) return packages
  const { status, error, stdout, stderr } = install()
  if (status === 0) return packages
  const output = `${stdout}${stderr}`
  if (error === undefined && UNREACHABLE.test(output)) return null
  throw new Error(`pnpm install in ${folder} failed: ${output}`, { cause: error })
}
