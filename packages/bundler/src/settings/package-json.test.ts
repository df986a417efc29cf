import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importsOfDependencies } from './package-json.ts'

test('a package for development is imported by its range only where none is installed', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'terrane-tools-'))
  const settings = { devDependencies: { there: '^1', away: '^2' }, dependencies: { used: '^3' } }
  await mkdir(join(folder, 'node_modules/there'), { recursive: true })
  await writeFile(join(folder, 'node_modules/there/package.json'), '{}')
  await mkdir(join(folder, 'fn'))
  const imports = importsOfDependencies(settings, join(folder, 'fn'))
  expect([imports['there'], imports['away'], imports['used']]).toEqual([undefined, 'npm:away@^2', 'npm:used@^3'])
  await rm(folder, { recursive: true })
})
