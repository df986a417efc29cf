// Lists the files that the tests of a package may read. Turbo hashes the same files into the key of the cached result.
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob, relative, sep } from 'node:path'
import { ROOT } from './tiers.ts'

/** Files that turbo hashes into every key, besides the globalDependencies of turbo.json. */
const GLOBAL = ['package.json', 'pnpm-lock.yaml', 'turbo.json']
/** Files that are not in the key: installed from the lockfile, or generated from sources with a hash in their name. */
const DERIVED = /(?:^|\/)(?:node_modules|\.cache)(?:\/|$)/
const FROM_ROOT = '$TURBO_ROOT$/'

interface Manifest {
  readonly name?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

interface TurboFile {
  readonly globalDependencies?: readonly string[]
  readonly tasks?: Readonly<Record<string, { readonly inputs?: readonly string[] }>>
}

const folderByName = new Map(
  globSync('{packages,apps,infra}/*/package.json', { cwd: ROOT }).map((path) => [
    manifestOf(dirname(path)).name!,
    dirname(path),
  ]),
)
const known = new Map<string, readonly string[]>()

/** Whether a file of the repository is in the key of a package's test results; true for outside paths. */
export function isInput(folder: string, path: string): boolean {
  const file = relative(ROOT, path).split(sep).join('/')
  if (file === '' || file.startsWith('..') || DERIVED.test(file)) return true
  return inputsOf(folder).some((input) => file === input || file.startsWith(`${input}/`) || matchesGlob(file, input))
}

/** Files and folders, from the root, whose content is in the key of a package's test results. */
export function inputsOf(folder: string): readonly string[] {
  let inputs = known.get(folder)
  if (!inputs) {
    const root = readTurbo('turbo.json').globalDependencies ?? []
    const own = Object.values(readTurbo(`${folder}/turbo.json`).tasks ?? {}).flatMap((task) => task.inputs ?? [])
    const fromRoot = own.filter((input) => input.startsWith(FROM_ROOT)).map((input) => input.slice(FROM_ROOT.length))
    inputs = [
      ...GLOBAL,
      ...workspacesOf(folder),
      ...[...root, ...fromRoot].map((input) => input.replace(/\/\*\*$/, '')),
    ]
    known.set(folder, inputs)
  }
  return inputs
}

/** The folder of a package and of all workspace packages that it depends on. */
export function workspacesOf(folder: string, seen: Set<string> = new Set()): string[] {
  if (seen.has(folder)) return []
  seen.add(folder)
  const { dependencies, devDependencies, optionalDependencies } = manifestOf(folder)
  const names = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })
  const next = names.map((name) => folderByName.get(name)).filter((found) => found !== undefined)
  return [folder, ...next.flatMap((found) => workspacesOf(found, seen))]
}

function manifestOf(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8')) as Manifest
}

function readTurbo(file: string): TurboFile {
  const path = join(ROOT, file)
  return existsSync(path) ? (JSON.parse(readFileSync(path, 'utf8')) as TurboFile) : {}
}
