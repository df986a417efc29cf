// Determines the tier of a test file, and with it where and how the file runs (docs/contributing.md#tests).
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

/**
 * Requirements of a test file besides its own process: `unit` none, `database` a migrated database, `process` child
 * processes, `stack` whole apps as processes, `long` minutes.
 */
export type Tier = 'unit' | 'database' | 'process' | 'stack' | 'long'

/** Tests of a run: the everyday tiers on the embedded database, the database tier on PostgreSQL, or the long suites. */
export type Lane = (typeof LANES)[number]

export const LANES = ['everyday', 'postgres', 'long'] as const

export const ROOT = join(import.meta.dirname, '../../..')

/** Glob patterns of test files, from the root of the repository. */
export const TEST_FILES = [
  'packages/*/{src,test}/**/*.test.ts',
  'apps/*/{src,test,web/src}/**/*.test.ts',
  'infra/*/{src,test}/**/*.test.ts',
]

/** A file has the last tier of this list whose module it imports, directly or through its support files. */
const TIER_BY_IMPORT: readonly (readonly [Tier, RegExp])[] = [
  ['process', /^(?:node:child_process|@terrane\/testing\/s3\/process)$/],
  ['database', /^@terrane\/database\/testing$/],
  ['stack', /\/src\/(?:apps|stack)\.ts$/],
]
const IMPORT = /\b(?:from|import|import\()\s*'([^']+)'/g
/** Imports, and programs of threads and processes. */
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

/** The tier of a test file, by its name or its imports. */
export function tierOf(file: string): Tier {
  if (file.endsWith('.long.test.ts')) return 'long'
  const imported = importsOf(join(ROOT, file), new Set())
  return TIER_BY_IMPORT.findLast(([, module]) => imported.some((name) => module.test(name)))?.[0] ?? 'unit'
}

/** Whether a file draws random cases: an everyday run executes a share of them, the long lane all. */
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

/** Whether a long suite mostly waits, so that others run beside it; it states the reason in a line `// Waits: …`. */
export function mostlyWaits(file: string): boolean {
  return /^\/\/ Waits: ./m.test(readFileSync(join(ROOT, file), 'utf8'))
}

/** Reason why a file is slow, from its line `// Slow: …`; null without one. */
export function reasonOfSlow(file: string): string | null {
  return /^\/\/ Slow: (.*)$/m.exec(readFileSync(join(ROOT, file), 'utf8'))?.[1] ?? null
}

/** The support files that a test file imports or starts, directly or through others. */
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
