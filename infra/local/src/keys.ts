import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeOpaqueKey, signToken } from '@terrane/auth'

/** Keys of a project and its apps. */
export interface Keys {
  readonly jwtSecret: string
  readonly anonKey: string
  readonly serviceRoleKey: string
  readonly servicesKey: string
  readonly secretsKey: string
  /** The operator's key for /metrics. */
  readonly metricsKey: string
  /** First password of {@link CONSOLE_EMAIL}. */
  readonly consolePassword: string
}

/** The first user of a new console. */
export const CONSOLE_EMAIL = 'admin@terrane.local'

const TEN_YEARS = 315_360_000

/** The keys in the state folder (mode 0600), created when missing. */
export async function loadKeys(home: string, projectRef: string): Promise<Keys> {
  const path = join(home, 'keys.json')
  const kept = await readKept(path)
  // Keys in a folder of an earlier version are kept.
  const keys = { ...(await makeKeys(projectRef)), ...kept }
  if (kept && Object.keys(kept).length === Object.keys(keys).length) return keys
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(`${path}.new`, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600 })
  await rename(`${path}.new`, path)
  return keys
}

async function readKept(path: string): Promise<Partial<Keys> | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Partial<Keys>
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** New keys for a project. */
export async function makeKeys(projectRef: string): Promise<Keys> {
  const jwtSecret = randomBytes(48).toString('base64url')
  const claims = { iss: 'terrane', ref: projectRef }
  return {
    jwtSecret,
    anonKey: await signToken({ ...claims, role: 'anon' }, jwtSecret, TEN_YEARS),
    serviceRoleKey: await signToken({ ...claims, role: 'service_role' }, jwtSecret, TEN_YEARS),
    servicesKey: makeOpaqueKey('trn_services'),
    secretsKey: randomBytes(32).toString('hex'),
    metricsKey: makeOpaqueKey('trn_metrics'),
    consolePassword: randomBytes(12).toString('base64url'),
  }
}
