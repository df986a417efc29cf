import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importsOfDependencies } from './package-json.ts'

test('a package for development is imported by its range only where a source names it and none is installed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-tools-'))
  const settings = {
    devDependencies: { there: '^1', away: '^2', unused: '^4', jsx: '^5' },
    dependencies: { used: '^3' },
  }
  await mkdir(join(folder, 'node_modules/there'), { recursive: true })
  await writeFile(join(folder, 'node_modules/there/package.json'), '{}')
  await mkdir(join(folder, 'fn'))
  await writeFile(join(folder, 'fn/index.ts'), `/** @jsxImportSource jsx */ import 'there'; import 'away' // unused`)
  await writeFile(join(folder, 'fn/eslint.config.js'), `import 'unused'`)
  const imports = await importsOfDependencies(settings, join(folder, 'fn'), { catalogs: {} })
  const found = ['there', 'away', 'used', 'unused', 'jsx'].map((name) => imports[name])
  expect(found).toEqual([undefined, 'npm:away@^2', 'npm:used@^3', undefined, 'npm:jsx@^5'])
  await rm(folder, { recursive: true })
})
