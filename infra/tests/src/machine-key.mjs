// Computes the part of each cached test result's key that depends on the machine and not on the repository. It uses
// plain JavaScript and built-in modules only, because infra/bootstrap.mjs runs it before anything is installed.
import { createHash } from 'node:crypto'
import { accessSync, constants, existsSync, readdirSync, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Programs that some tests use where they are installed. */
const PROGRAMS = [
  'bwrap',
  'chromium',
  'faketime',
  'git',
  'ogr2ogr',
  'osmium',
  'promtool',
  'psql',
  'python3',
  'tippecanoe',
]

/**
 * A hash of the platform, the user's kind, the programs on PATH, and the names and sizes of the shared test data.
 *
 * @param {string} root the repository
 * @param {Readonly<Record<string, string | undefined>>} env
 * @returns {string}
 */
export function machineKey(root, env = process.env) {
  const hash = createHash('sha256')
  hash.update(`${process.platform} ${process.arch} ${process.getuid?.() === 0}\n`)
  for (const program of PROGRAMS) hash.update(`${program} ${pathOf(program, env.PATH ?? '')}\n`)
  const shared = env.TERRANE_SHARED || join(root, '..', 'shared')
  if (existsSync(shared)) for (const line of listing(shared)) hash.update(line)
  return hash.digest('hex').slice(0, 16)
}

function pathOf(program, path) {
  const found = path
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, program))
  return found.find((candidate) => isExecutable(candidate)) ?? ''
}

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function* listing(folder) {
  for (const entry of readdirSync(folder, { recursive: true }).toSorted()) {
    const { size } = statSync(join(folder, entry))
    yield `${entry} ${size}\n`
  }
}
