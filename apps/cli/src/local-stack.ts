import { createHmac, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { TerraneError } from '@terrane/core/errors'

/** Keys that the local stack writes into its folder. */
interface LocalKeys {
  readonly jwtSecret: string
  readonly anonKey: string
  readonly serviceRoleKey: string
  readonly servicesKey: string
}

/** Ports of the running apps, and of the embedded database if it is used. */
type Ports = Readonly<Partial<Record<'worker' | 'origin' | 'functions' | 'router' | 'console' | 'database', number>>>

/** The running local stack. */
export interface LocalStack {
  readonly keys: LocalKeys
  readonly ports: Ports
}

const ANSWER_MS = 5000

/** The folder of the local stack. */
export function stackHome(env: NodeJS.ProcessEnv): string {
  return resolve(env['TERRANE_HOME'] || '.terrane')
}

/** URL of a port of this machine. */
export function local(port: number): string {
  return `http://127.0.0.1:${port}`
}

/** The running stack of the environment's folder, which proves to know the folder's secret. @throws NOT_CONNECTED */
export async function findStack(env: NodeJS.ProcessEnv): Promise<LocalStack> {
  const home = stackHome(env)
  const keys = await readJson<LocalKeys>(join(home, 'keys.json'))
  if (keys === null) {
    throw new TerraneError('NOT_CONNECTED', 'invalid', `There is no local stack in ${home}`, {
      hint: 'Start one with `npm start` in a clone, or name a profile (--profile), or set TERRANE_URL and TERRANE_SERVICE_ROLE_KEY.',
    })
  }
  const kept = await readJson<{ readonly port: number }>(join(home, 'stack.json'))
  if (kept === null) throw notRunning(`there is no stack.json in ${home}`)
  return { keys, ports: await askPorts(kept.port, keys.jwtSecret) }
}

/** The embedded database of a stack. @throws NOT_CONNECTED when it uses a server */
export function databaseOf({ ports }: LocalStack): string {
  if (ports.database !== undefined) return `postgres://postgres@127.0.0.1:${ports.database}/postgres`
  throw new TerraneError('NOT_CONNECTED', 'invalid', 'The local stack uses an external database', {
    hint: 'Set DATABASE_URL to the value that the stack was started with.',
  })
}

/** The local stack cannot be used. */
export function notRunning(reason: string): TerraneError {
  return new TerraneError('NOT_CONNECTED', 'unavailable', `The local stack does not run: ${reason}`, {
    hint: 'Start it with `npm start` in a clone, or name a profile (--profile), or set TERRANE_URL and TERRANE_SERVICE_ROLE_KEY.',
  })
}

async function askPorts(port: number, secret: string): Promise<Ports> {
  const nonce = randomBytes(32).toString('hex')
  let body: string
  let proof: string | null
  try {
    const response = await fetch(`${local(port)}/?nonce=${nonce}`, {
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS),
    })
    proof = response.headers.get('terrane-proof')
    body = await response.text()
  } catch {
    throw notRunning(`nothing answers on port ${port} of its stack.json`)
  }
  const expected = createHmac('sha256', `terrane-stack:${secret}`).update(`${nonce}\n${body}`).digest('hex')
  if (proof !== expected) throw notRunning(`port ${port} of its stack.json is used by another program`)
  return (JSON.parse(body) as { ports: Ports }).ports
}

/** A file as JSON; null when it does not exist. @throws FILE_UNREADABLE */
export async function readJson<T>(path: string): Promise<T | null> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as T
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw new TerraneError('FILE_UNREADABLE', 'invalid', `${path} cannot be used: ${(error as Error).message}`)
  }
}
