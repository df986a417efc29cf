import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readCodeSettings } from './code-settings.ts'

const roots: string[] = []
afterAll(() => Promise.all(roots.map((root) => rm(root, { recursive: true }))))

async function importsOf(
  files: Readonly<Record<string, string>>,
): Promise<{ imports: Readonly<Record<string, string>>; folder: string }> {
  const root = await mkdtemp(join(tmpdir(), 'terrane-settings-'))
  roots.push(root)
  for (const [path, text] of Object.entries({ 'apps/fn/index.ts': '', ...files })) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), text)
  }
  const folder = join(root, 'apps/fn')
  return { imports: (await readCodeSettings(folder)).imports, folder }
}

test.each([
  ['pnpm-workspace.yaml', `packages: ['apps/*']\ncatalog: { zod: ^4.1.0 }\ncatalogs:\n  prod:\n    hono: 4.13.19\n`],
  [
    'package.json',
    JSON.stringify({ workspaces: ['apps/*'], catalog: { zod: '^4.1.0' }, catalogs: { prod: { hono: '4.13.19' } } }),
  ],
  [
    'package.json',
    JSON.stringify({
      workspaces: { packages: ['apps/*'], catalog: { zod: '^4.1.0' }, catalogs: { prod: { hono: '4.13.19' } } },
    }),
  ],
])('ranges are those of the catalogs of the workspace: %s', async (name, text) => {
  const dependencies = { hono: 'catalog:prod', zod: 'catalog:', absent: 'catalog:other' }
  const { imports } = await importsOf({ [name]: text, 'apps/fn/package.json': JSON.stringify({ dependencies }) })
  expect(imports).toMatchObject({ hono: 'npm:hono@4.13.19', 'hono/': 'npm:/hono@4.13.19/', zod: 'npm:zod@^4.1.0' })
  expect(imports['absent']).toBeUndefined()
})

test('dependencies of the root of the workspace count after those of the function', async () => {
  const { imports } = await importsOf({
    'package.json': JSON.stringify({ workspaces: ['apps/*'], dependencies: { ours: '1.0.0', both: '1.0.0' } }),
    'apps/fn/package.json': JSON.stringify({ dependencies: { both: '2.0.0' } }),
  })
  expect(imports).toMatchObject({ ours: 'npm:ours@1.0.0', both: 'npm:both@2.0.0' })
})

test('dependencies of each package.json above count outside of a workspace, the nearest first', async () => {
  const { imports } = await importsOf({
    'package.json': JSON.stringify({
      dependencies: { far: '1.0.0', both: '1.0.0' },
      devDependencies: { linter: '1.0.0' },
    }),
    'apps/fn/package.json': JSON.stringify({ dependencies: { both: '2.0.0' } }),
    'src/index.ts': `import 'linter'`,
  })
  expect(imports).toMatchObject({ far: 'npm:far@1.0.0', both: 'npm:both@2.0.0' })
  expect(imports['linter']).toBeUndefined()
})

test('a package.json outside of the repository of the function does not count', async () => {
  const dependencies = { far: '1.0.0' }
  for (const repository of ['apps', 'apps/fn']) {
    const { imports } = await importsOf({
      'package.json': JSON.stringify({ dependencies }),
      [`${repository}/.git`]: 'gitdir: elsewhere',
    })
    expect(imports['far']).toBeUndefined()
  }
})

test('dependencies of members that the function needs are imported, and not those of others', async () => {
  const member = (dependencies: object) => ({ name: '', dependencies })
  const { imports } = await importsOf({
    'pnpm-workspace.yaml': `packages: ['apps/*', 'packages/*']\ncatalog: { deep: 3.0.0 }\n`,
    'packages/a/package.json': JSON.stringify({
      ...member({ '@ours/b': 'workspace:*', near: '1.0.0' }),
      name: '@ours/a',
    }),
    'packages/b/package.json': JSON.stringify({
      ...member({ deep: 'catalog:', '@ours/a': 'workspace:*' }),
      name: '@ours/b',
    }),
    'packages/c/package.json': JSON.stringify({ ...member({ far: '1.0.0' }), name: '@ours/c' }),
    'apps/fn/package.json': JSON.stringify({ dependencies: { '@ours/a': 'workspace:*' } }),
  })
  expect(imports).toMatchObject({ near: 'npm:near@1.0.0', deep: 'npm:deep@3.0.0' })
  expect(imports['far']).toBeUndefined()
})

test('a package for development of the folder above is imported where a source beside the function names it', async () => {
  const { imports } = await importsOf({
    'apps/package.json': JSON.stringify({ devDependencies: { shared: '1.0.0', linter: '1.0.0' } }),
    'apps/_shared/a.ts': `import "shared/part"`,
  })
  expect([imports['shared'], imports['linter']]).toEqual(['npm:shared@1.0.0', undefined])
})

test('paths of a tsconfig.json are names of files, but not those of types or of several places', async () => {
  const paths = {
    '@/*': ['src/*'],
    config: ['./config.ts'],
    several: ['./one.ts', './other.ts'],
    '*': ['./vendor/*'],
    react: ['./node_modules/@types/react'],
    env: ['./env.d.ts'],
  }
  const { imports, folder } = await importsOf({
    'apps/fn/tsconfig.json': `{ "compilerOptions": { "baseUrl": ".", "paths": ${JSON.stringify(paths)} } } // comment`,
  })
  expect(imports).toEqual({ '@/': `${join(folder, 'src')}/`, config: join(folder, 'config.ts') })
})

test('a pnpm-workspace.yaml that is no YAML is named', async () => {
  await expect(importsOf({ 'pnpm-workspace.yaml': 'packages: [' })).rejects.toMatchObject({
    code: 'FUNCTION_BUNDLE_FAILED',
    details: expect.stringContaining('pnpm-workspace.yaml') as string,
  })
})
