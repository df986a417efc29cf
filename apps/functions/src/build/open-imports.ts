import { DenoImports } from '@terrane/bundler'
import { findDeno } from '../runtime/machine.ts'
import { LatestFirst } from './latest-first.ts'

/** Folders whose imports are fetched at the same time: they wait for the network more than they compute. */
const AT_ONCE = 4

/** Opens the fetcher of this machine; null where Deno is not installed. */
export async function openImports(
  home: string,
  hosts: readonly string[],
  env: NodeJS.ProcessEnv,
  timeoutMs?: number,
): Promise<DenoImports | null> {
  const deno = await findDeno()
  if (deno === null) return null
  const line = new LatestFirst(AT_ONCE)
  const turn = <T>(folder: string, fetch: () => Promise<T>) => line.run(folder, fetch)
  return new DenoImports({
    deno,
    home,
    hosts,
    hostsSetting: 'TERRANE_FUNCTIONS_IMPORT_HOSTS',
    env,
    turn,
    ...(timeoutMs !== undefined && { timeoutMs }),
  })
}
