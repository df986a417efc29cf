// Finds the test files that reach a source file by their imports, and over how many files.
import { globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ROOT, TEST_FILES, lanesOfFile } from './tiers.ts'

const IMPORT = /\b(?:from|import|import\(|new URL\()\s*'([^']+)'/g

/** Everyday test files that import a source file, directly or through others; nearest first, from the root. */
export function testsThatImport(file: string): string[] {
  const importers = importersByFile()
  const tests: string[] = []
  const seen = new Set([file])
  let ring = [file]
  while (ring.length > 0) {
    tests.push(...ring.filter((found) => found.endsWith('.test.ts')))
    ring = ring.flatMap((found) => importers.get(found) ?? []).filter((found) => !seen.has(found) && seen.add(found))
  }
  const everyday = new Set(globSync(TEST_FILES, { cwd: ROOT }).filter((test) => lanesOfFile(test).includes('everyday')))
  return tests.filter((test) => everyday.has(test))
}

function importersByFile(): Map<string, string[]> {
  const faces = packageFaces()
  const importers = new Map<string, string[]>()
  for (const file of globSync('{packages,apps,infra}/*/{src,test,web}/**/*.{ts,tsx}', { cwd: ROOT })) {
    for (const [, name] of readFileSync(join(ROOT, file), 'utf8').matchAll(IMPORT)) {
      const target = name!.startsWith('.') ? join(dirname(file), name!) : faces.get(name!)
      if (target === undefined) continue
      const known = importers.get(target)
      if (known) known.push(file)
      else importers.set(target, [file])
    }
  }
  return importers
}

/** The file behind each name that packages export: `@terrane/core/geo` to `packages/core/src/geo/index.ts`. */
function packageFaces(): Map<string, string> {
  const faces = new Map<string, string>()
  for (const path of globSync('{packages,apps,infra}/*/package.json', { cwd: ROOT })) {
    const { name, exports } = JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as Manifest
    for (const [entry, target] of Object.entries(exports ?? {})) {
      const file = typeof target === 'string' ? target : target.default
      if (file !== undefined) faces.set(join(name, entry), join(dirname(path), file))
    }
  }
  return faces
}

interface Manifest {
  readonly name: string
  readonly exports?: Readonly<Record<string, string | { readonly default?: string }>>
}
