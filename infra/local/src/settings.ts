import { mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { randomBytes } from 'node:crypto'
import { join, resolve } from 'node:path'
import { makeOpaqueKey, signToken } from '@terrane/auth'

/** Keys of the local project; made on the first start and kept. */
export interface Keys {
  readonly jwtSecret: string
  readonly anonKey: string
  readonly serviceRoleKey: string
  readonly servicesKey: string
  readonly secretsKey: string
  /** Password of {@link CONSOLE_EMAIL}, the console's first user. */
  readonly consolePassword: string
}

/** Who signs in to a local console first. */
export const CONSOLE_EMAIL = 'admin@terrane.local'

/** Where the stack keeps its state and on which ports it listens. */
export interface Settings {
  readonly home: string
  readonly projectRef: string
  readonly ports: Readonly<Record<'worker' | 'origin' | 'functions' | 'router' | 'console' | 'database', number>>
  /** A server to use instead of the embedded database. */
  readonly databaseUrl: string | null
  readonly logLevel: string
}

const TEN_YEARS = 315_360_000

/** Reads the settings of the stack from the environment. */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const port = (name: string, fallback: number) => {
    const text = env[`TERRANE_${name}_PORT`]
    const value = text ? Number(text) : fallback
    if (!Number.isInteger(value) || value < 1 || value > 65_535)
      throw new Error(`TERRANE_${name}_PORT is not a port: ${text}`)
    return value
  }
  return {
    home: resolve(env['TERRANE_HOME'] || '.terrane'),
    projectRef: env['TERRANE_PROJECT_REF'] || 'local',
    ports: {
      worker: port('WORKER', 3333),
      origin: port('ORIGIN', 8000),
      functions: port('FUNCTIONS', 8001),
      router: port('ROUTER', 8002),
      console: port('CONSOLE', 8003),
      database: port('DATABASE', 54329),
    },
    databaseUrl: env['DATABASE_URL'] || null,
    logLevel: env['LOG_LEVEL'] || 'info',
  }
}

/** The keys in the state folder (mode 0600), made when they are not there. */
export async function loadKeys(home: string, projectRef: string): Promise<Keys> {
  const path = join(home, 'keys.json')
  const kept = await readKept(path)
  if (kept?.consolePassword !== undefined) return kept as Keys
  const jwtSecret = randomBytes(48).toString('base64url')
  const claims = { iss: 'terrane', ref: projectRef }
  const keys: Keys = {
    jwtSecret,
    anonKey: await signToken({ ...claims, role: 'anon' }, jwtSecret, TEN_YEARS),
    serviceRoleKey: await signToken({ ...claims, role: 'service_role' }, jwtSecret, TEN_YEARS),
    servicesKey: makeOpaqueKey('trn_services'),
    secretsKey: randomBytes(32).toString('hex'),
    consolePassword: randomBytes(12).toString('base64url'),
    // A folder that was made before there was a console keeps its other keys.
    ...kept,
  }
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
