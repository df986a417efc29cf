// Decides which tier a test file belongs to, and with it where and how the file runs (docs/contributing.md#tests).
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * What a test file needs beside its own process: `unit` nothing, `database` a migrated database, `process` children,
 * `stack` whole apps as processes, `long` minutes.
 */
export type Tier = 'unit' | 'database' | 'process' | 'stack' | 'long'

/** What a run covers: the everyday tiers on the embedded database, the database tier on PostgreSQL, or the long suites. */
export type Lane = (typeof LANES)[number]

export const LANES = ['everyday', 'postgres', 'long'] as const

export const ROOT = join(import.meta.dirname, '../../..')

/** Where test files lie, from the root of the repository. */
export const TEST_FILES = [
  'packages/*/{src,test}/**/*.test.ts',
  'apps/*/{src,test,web/src}/**/*.test.ts',
  'infra/*/{src,test}/**/*.test.ts',
]

/** A file has the last tier of this list whose module it imports, itself or by way of its support files. */
const TIER_BY_IMPORT: readonly (readonly [Tier, RegExp])[] = [
  ['process', /^(?:node:child_process|@terrane\/testing\/s3\/process)$/],
  ['database', /^@terrane\/database\/testing$/],
  ['stack', /\/src\/(?:apps|stack)\.ts$/],
]
const IMPORT = /\b(?:from|import|import\()\s*'([^']+)'/g
/** Also programs that run in threads and processes of their own. */
const IMPORT_OR_PROGRAM = /\b(?:from|import|import\(|new URL\()\s*'([^']+)'/g

/** Test files of a package folder that belong to a lane, as paths from the root of the repository. */
export function filesOf(folder: string, lane: Lane): string[] {
  const files = globSync(TEST_FILES, { cwd: ROOT }).filter((file) => file.startsWith(`${folder}/`))
  return files.filter((file) => lanesOfFile(file).includes(lane)).toSorted()
}

/** The package folder of a file, from the root of the repository: `packages/core`. */
export function folderOf(file: string): string {
  return file.split('/', 2).join('/')
}

/** The tier of a test file, by its name or by what it imports. */
export function tierOf(file: string): Tier {
  if (file.endsWith('.long.test.ts')) return 'long'
  const imported = importsOf(join(ROOT, file), new Set())
  return TIER_BY_IMPORT.findLast(([, module]) => imported.some((name) => module.test(name)))?.[0] ?? 'unit'
}

/** Whether a file draws random cases: an everyday run takes a share of them, the long lane all. */
export function hasRandomCases(file: string): boolean {
  return importsOf(join(ROOT, file), new Set()).includes('@terrane/testing/property')
}

/** The lanes that run a test file. */
export function lanesOfFile(file: string): readonly Lane[] {
  return lanesOf(tierOf(file))
}

function lanesOf(tier: Tier): readonly Lane[] {
  if (tier === 'long') return ['long']
  return tier === 'database' || tier === 'stack' ? ['everyday', 'postgres'] : ['everyday']
}

/** Whether a long suite mostly waits, by a line `// Waits: …` that says for what: others run beside it. */
export function mostlyWaits(file: string): boolean {
  return /^\/\/ Waits: ./m.test(readFileSync(join(ROOT, file), 'utf8'))
}

/** Why a file takes long, by its line `// Slow: …`; null without one. */
export function reasonOfSlow(file: string): string | null {
  return /^\/\/ Slow: (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? null
}

/** The support files that a test file imports or starts, itself or by way of others. */
export function supportOf(file: string): string[] {
  const seen = new Set<string>()
  importsOf(join(ROOT, file), seen, IMPORT_OR_PROGRAM)
  return [...seen].map((path) => relative(ROOT, path)).filter((path) => path !== file)
}

/** The modules that a file imports; support files are followed, sources under test are not. */
function importsOf(path: string, seen: Set<string>, pattern = IMPORT): string[] {
  if (seen.has(path) || !existsSync(path)) return []
  seen.add(path)
  const names = [...readFileSync(path, 'utf8').matchAll(pattern)].map(([, name]) => name!)
  const support = names
    .filter((name) => name.startsWith('.'))
    .map((name) => join(dirname(path), name))
    .filter((target) => /^(?:packages|apps|infra)\/[^/]+\/test\//.test(relative(ROOT, target)))
  return [...names, ...support.flatMap((target) => importsOf(target, seen, pattern))]
}
