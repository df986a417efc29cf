import { globSync, readFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '../../..')
const dockerfile = readFileSync(join(root, 'infra/docker/Dockerfile'), 'utf8')
const settings = readFileSync(join(root, 'docs/settings.md'), 'utf8')

test('what apps write by default beside themselves, images write under /data', () => {
  const written = [...settings.matchAll(/^\| `([A-Z_]+)` \| `(?:file:)?\.terrane/gm)].map((match) => match[1]!)
  expect(written).toContain('TERRANE_STORAGE')
  expect(written.filter((name) => !new RegExp(`\\b${name}=(file:)?/data\\b`).test(dockerfile))).toEqual([])
})

interface Manifest {
  readonly folder: string
  readonly name: string
  readonly private?: boolean
  readonly dependencies?: object
  readonly peerDependencies?: object
  readonly optionalDependencies?: object
}

const manifests = globSync(['apps/*/package.json', 'packages/*/package.json'], { cwd: root }).map((path): Manifest => ({
  ...(JSON.parse(readFileSync(join(root, path), 'utf8')) as Omit<Manifest, 'folder'>),
  folder: join(root, path, '..'),
}))

/** Names of the dependencies that are installed with a package. */
function installedFor({ dependencies, peerDependencies, optionalDependencies }: Manifest): string[] {
  return Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies })
}

/** Packages of the repository that an image contains. */
function carried(): Set<string> {
  const names = new Set(manifests.filter(({ folder }) => folder.startsWith(join(root, 'apps'))).map(({ name }) => name))
  for (const name of names) {
    const manifest = manifests.find((one) => one.name === name)
    for (const other of manifest ? installedFor(manifest) : []) names.add(other)
  }
  return names
}

test('sources import nothing that only developers have: an image carries no development dependencies', () => {
  const missing: string[] = []
  const inImages = carried()
  expect(inImages).toContain('@terrane/osm')
  for (const manifest of manifests) {
    const { name, folder } = manifest
    // Fixtures are private and not in images.
    if (manifest.private && !inImages.has(name)) continue
    const there = new Set([name, ...builtinModules, ...installedFor(manifest)])
    const sources = globSync('src/**/*.ts', {
      cwd: folder,
      // Browser modules are bundled with their imports, and modules for tests never run in an image.
      exclude: ['**/*.test.ts', '**/*.browser.ts', '**/testing/**', '**/property/**', '**/generated/**'],
    })
    for (const source of sources) {
      const text = readFileSync(join(folder, source), 'utf8')
      const imports = text.matchAll(
        /^(?:import|export)\s(?!type\b)[^'"]*?from '([@a-z][^'\s]*)'|\bimport\('([@a-z][^'\s]*)'\)/gm,
      )
      for (const [, fixed, lazy] of imports) {
        const specifier = (fixed ?? lazy)!
        if (specifier.startsWith('node:')) continue
        const [scope, rest] = specifier.split('/') as [string, string?]
        const wanted = scope.startsWith('@') ? `${scope}/${rest}` : scope
        if (!there.has(wanted)) missing.push(`${name}: ${wanted} in ${source}`)
      }
    }
  }
  expect(missing).toEqual([])
})
