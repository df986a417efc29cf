import { constants } from 'node:fs'
import { access, readFile, stat, statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { availableMemory } from 'node:process'
import { dirname, join } from 'node:path'
import { parseSecretsKey } from '@terrane/service'
import { findStack, stackHome } from '../local-stack.ts'
import { fine, wrong, type Check, type CheckContext, type Finding } from './finding.ts'

const GIB = 2 ** 30
/** Memory and disk that the embedded database and a small job need. */
const LEAST_MEMORY = 2 * GIB
const LEAST_DISK = 2 * GIB
const PORTS = { WORKER: 3333, ORIGIN: 8000, FUNCTIONS: 8001, ROUTER: 8002, CONSOLE: 8003, DATABASE: 54_329 }

export const machineChecks: readonly Check[] = [node, memory, disk, keys, secretsKey, ports]

/** Takes the version as an argument and is exported for tests, which have only one Node. */
export function nodeFinding(version: string): Finding {
  const major = Number(/^v?(\d+)/.exec(version)?.[1])
  if (major >= 24) return fine('node', version)
  return wrong(
    'node',
    `${version} is too old for the apps`,
    'Start them by `npm start` or `terrane start`, which bring Node 24, or install Node 24.',
  )
}

async function node(): Promise<Finding[]> {
  return [nodeFinding(process.version)]
}

export function memoryFinding(bytes: number): Finding {
  const free = `${(bytes / GIB).toFixed(1)} GiB free`
  if (bytes >= LEAST_MEMORY) return fine('memory', free)
  return wrong(
    'memory',
    `${free}: the embedded database and a job need 2 GiB`,
    'End other programs, or use a PostgreSQL server of your own (DATABASE_URL).',
  )
}

async function memory(): Promise<Finding[]> {
  return [memoryFinding(availableMemory())]
}

export function diskFinding(bytes: number, folder: string): Finding {
  const free = `${(bytes / GIB).toFixed(1)} GiB free in ${folder}`
  if (bytes >= LEAST_DISK) return fine('disk', free)
  return wrong('disk', free, 'Free disk space, or move the data of the stack to another disk by TERRANE_HOME.')
}

async function disk({ env }: CheckContext): Promise<Finding[]> {
  const folder = await existing(stackHome(env))
  const { bavail, bsize } = await statfs(folder)
  const findings = [diskFinding(bavail * bsize, folder)]
  const writable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!writable)
    findings.push(
      wrong(
        'home',
        `${folder} is not writable`,
        'Make it writable for the user who runs Terrane, or name another folder by TERRANE_HOME.',
      ),
    )
  return findings
}

/** The folder, or its nearest existing ancestor. */
async function existing(folder: string): Promise<string> {
  const found = await stat(folder).catch(() => null)
  return found || dirname(folder) === folder ? folder : existing(dirname(folder))
}

async function keys({ env }: CheckContext): Promise<Finding[]> {
  const path = join(stackHome(env), 'keys.json')
  const found = await stat(path).catch(() => null)
  if (!found) return []
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0)
    return [wrong('keys', `other users can read ${path}`, `Restrict it: chmod 600 ${path}`)]
  try {
    JSON.parse(await readFile(path, 'utf8'))
    return [fine('keys', path)]
  } catch {
    return [
      wrong('keys', `${path} is damaged`, 'Restore it from a backup; without it credentials cannot be decrypted.'),
    ]
  }
}

async function secretsKey({ env }: CheckContext): Promise<Finding[]> {
  const text = env['TERRANE_SECRETS_KEY']
  if (!text || parseSecretsKey(text)) return []
  return [
    wrong(
      'secrets-key',
      'TERRANE_SECRETS_KEY is not 32 bytes as hex or base64',
      'Set the key of the apps; openssl rand -hex 32 makes a new one.',
    ),
  ]
}

/** Ports of the running stack; without one, ports of the next start that other programs use. */
async function ports({ env }: CheckContext): Promise<Finding[]> {
  const stack = await findStack(env).catch(() => null)
  if (stack) {
    const own = Object.entries(stack.ports).map(([name, port]) => `${name} ${port}`)
    return [fine('ports', `the stack listens: ${own.join(', ')}`)]
  }
  const findings: Finding[] = []
  for (const [name, fallback] of Object.entries(PORTS)) {
    const variable = `TERRANE_${name}_PORT`
    const port = Number(env[variable] || fallback)
    if (!Number.isInteger(port) || port < 1 || port > 65_535) {
      findings.push(wrong('port', `${variable} is not a port: ${env[variable]}`, 'Set it to a number from 1 to 65535.'))
    } else if (!(await isFree(port))) {
      findings.push(
        wrong(
          'port',
          `${port} (${name.toLowerCase()}) is taken`,
          `End the program that listens there, or set ${variable} to another port.`,
        ),
      )
    }
  }
  return findings.length > 0 ? findings : [fine('ports', 'free')]
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
