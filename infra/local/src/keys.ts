import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { makeOpaqueKey, signToken } from '@terrane/auth'

/** Keys of a project and its apps. */
export interface Keys {
  readonly jwtSecret: string
  readonly anonKey: string
  readonly serviceRoleKey: string
  readonly servicesKey: string
  readonly secretsKey: string
}

const TEN_YEARS = 315_360_000

/** The keys in the state folder (mode 0600), made when they are not there. */
export async function loadKeys(home: string, projectRef: string): Promise<Keys> {
  const path = join(home, 'keys.json')
  try {
    return JSON.parse(await readFile(path, 'utf8')) as Keys
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
  const keys = await makeKeys(projectRef)
  await mkdir(home, { recursive: true, mode: 0o700 })
  await writeFile(path, `${JSON.stringify(keys, null, 2)}\n`, { mode: 0o600, flag: 'wx' })
  return keys
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
  }
}
