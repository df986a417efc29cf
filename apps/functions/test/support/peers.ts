import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'

const PEERS = resolve(import.meta.dirname, '../../../../infra/peers/functions')

/** The `node_modules` of infra/peers/functions, installed at its first use; null when that fails. */
export function installPeers(): string | null {
  const packages = join(PEERS, 'node_modules')
  if (existsSync(join(packages, '.modules.yaml'))) return packages
  const args = ['install', '--ignore-workspace', '--frozen-lockfile', '--ignore-scripts', '--dir', PEERS]
  return spawnSync('pnpm', args, { stdio: 'ignore' }).status === 0 ? packages : null
}
