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

test('sources import nothing that only developers have: an image carries no development dependencies', () => {
  const missing: string[] = []
  for (const manifest of globSync(['apps/*/package.json', 'packages/*/package.json'], { cwd: root })) {
    const folder = join(root, manifest, '..')
    const {
      name,
      dependencies = {},
      peerDependencies = {},
      optionalDependencies = {},
    } = JSON.parse(readFileSync(join(root, manifest), 'utf8')) as {
      name: string
      dependencies?: object
      peerDependencies?: object
      optionalDependencies?: object
    }
    const installed = { ...dependencies, ...peerDependencies, ...optionalDependencies }
    const there = new Set([name, ...builtinModules, ...Object.keys(installed)])
    const sources = globSync('src/**/*.ts', {
      cwd: folder,
      // Modules of browsers are bundled with what they import, and those for tests alone never run in an image.
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
