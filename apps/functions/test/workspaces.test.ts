import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { writeBuildProgram } from '../src/build/build-program.ts'
import { Builder } from '../src/build/builder.ts'
import { bundleFolder } from '@terrane/bundler'
import { STATE_DIR } from './support/runtimes.ts'

const program = await writeBuildProgram(STATE_DIR)
let root: string
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'terrane-workspace-')))
})
afterEach(() => rm(root, { recursive: true, force: true }))

async function lay(files: Readonly<Record<string, string | Uint8Array>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
}

/** Value that the bundle of a folder exports as `default`, after it is written to disk with its files. */
async function run(folder: string): Promise<{ readonly value: unknown; readonly inputs: readonly string[] }> {
  using builder = new Builder({ program, parallel: 1, cache: null })
  const { code, files, inputs } = await builder.bundleFolder('p', join(root, folder))
  const place = join(root, 'out', crypto.randomUUID())
  for (const [path, bytes] of [['index.mjs', code] as const, ...files]) {
    await mkdir(dirname(join(place, path)), { recursive: true })
    await writeFile(join(place, path), bytes)
  }
  const { default: value } = (await import(pathToFileURL(join(place, 'index.mjs')).href)) as { default: unknown }
  return { value, inputs }
}

const SHARED = `export const shared: string = 'shared'`

test.each([
  ['deno.json', { 'deno.json': JSON.stringify({ workspace: ['./packages/shared', './functions'] }) }],
  ['package.json', { 'package.json': JSON.stringify({ workspaces: ['packages/*'] }) }],
  [
    'pnpm-workspace.yaml',
    { 'pnpm-workspace.yaml': `packages:\n  # ours\n  - "packages/*"\n  - '!packages/other'\n\ncatalog:\n  a: 1\n` },
  ],
  ['pnpm-workspace.yaml on a line', { 'pnpm-workspace.yaml': `packages: ['packages/*', functions]\n` }],
])('a package of the workspace is found by its name: %s', async (_, config) => {
  await lay({
    ...config,
    'packages/shared/package.json': JSON.stringify({
      name: '@acme/shared',
      exports: { '.': { types: './no.d.ts', import: './src/mod.ts' }, './part': './src/part.ts' },
    }),
    'packages/shared/src/mod.ts': SHARED,
    'packages/shared/src/part.ts': `import { shared } from '@acme/shared'; export default shared + ' part'`,
    'functions/fn/index.ts': `import { shared } from '@acme/shared'; import part from '@acme/shared/part'
      export default [shared, part]`,
  })
  const { value, inputs } = await run('functions/fn')
  expect(value).toEqual(['shared', 'shared part'])
  expect(inputs).toContain(join(root, 'packages/shared/package.json'))
})

test('members of deno workspaces, and the workspace of CommonJS packages that no one has installed', async () => {
  await lay({
    'deno/deno.json': JSON.stringify({ workspace: ['./say'], imports: { '@w/sheep': './wolf.ts' } }),
    'deno/say/deno.json': JSON.stringify({ name: '@w/say', exports: './mod.ts' }),
    'deno/say/mod.ts': `import sheep from '@w/sheep'; export default 'say ' + sheep`,
    'deno/wolf.ts': `export default 'howl'`,
    'deno/index.ts': `export { default } from '@w/say'`,
    'node/package.json': JSON.stringify({ workspaces: ['say'], dependencies: { say: '0.0.1' } }),
    'node/say/package.json': JSON.stringify({ name: 'say', version: '0.0.1' }),
    'node/say/index.js': `module.exports = 'said'`,
    'node/index.js': `module.exports = require('say')`,
  })
  expect((await run('deno')).value).toBe('say howl')
  expect((await run('node')).value).toBe('said')
})

test('a workspace that does not have the name leaves it to the packages', async () => {
  await lay({
    'package.json': JSON.stringify({ workspaces: ['packages/*'] }),
    'functions/fn/index.ts': `import 'absent'`,
  })
  await expect(bundleFolder(join(root, 'functions/fn'), null)).rejects.toMatchObject({
    details: expect.stringContaining('absent') as unknown,
  })
})

test('files that modules ask for by their own place go with the bundle', async () => {
  await lay({
    'fn/index.ts': `import { readFileSync } from 'node:fs'
      import { own } from './lib/own.ts'
      import { other } from 'other'
      export default [own, other].map((url) => readFileSync(url, 'utf8'))
        .concat(readFileSync(new URL('./lib/../lib/data.txt', import.meta.url), 'utf8'), String(new URL('none.txt', import.meta.url)).slice(-9))`,
    'fn/lib/own.ts': `export const own = new URL('data.txt', import.meta.url)`,
    'fn/lib/data.txt': 'own data',
    'node_modules/other/package.json': JSON.stringify({ name: 'other', type: 'module', exports: './index.js' }),
    'node_modules/other/index.js': `export const other = new URL("./data.txt", import.meta.url)`,
    'node_modules/other/data.txt': 'data of the package',
  })
  const { value, inputs } = await run('fn')
  expect(value).toEqual(['own data', 'data of the package', 'own data', '/none.txt'])
  expect(inputs).toContain(join(root, 'fn/lib/data.txt'))
})

test('files beside a package that is resolved by its name go with the bundle, and so does its own module', async () => {
  await lay({
    'fn/index.ts': `import { readFileSync } from 'node:fs'
      const module = import.meta.resolve('npm:other@1')
      const data = new URL(
        'data.txt',
        import.meta.resolve("npm:other@1"),
      )
      export default [readFileSync(new URL(module), 'utf8'), readFileSync(data, 'utf8')]`,
    'node_modules/other/package.json': JSON.stringify({ name: 'other', version: '1.0.0', exports: './index.js' }),
    'node_modules/other/index.js': `exports.other = 1`,
    'node_modules/other/data.txt': 'data of the package',
  })
  expect((await run('fn')).value).toEqual(['exports.other = 1', 'data of the package'])
})

test('a module of a package gets no file from outside its package', async () => {
  await lay({
    'fn/index.ts': `import bad from 'bad'
      export default bad`,
    'secret.txt': 'a secret of the machine',
    'node_modules/bad/package.json': JSON.stringify({ name: 'bad', type: 'module', exports: './index.js' }),
    'node_modules/bad/index.js': `export default [new URL('own.txt', import.meta.url), new URL('../../secret.txt', import.meta.url),
      new URL('..%2F..%2Fsecret.txt', import.meta.url), new URL(${JSON.stringify(join(root, 'secret.txt'))}, import.meta.url),
      new URL('file://${root}/secret.txt', import.meta.url), new URL('link.txt', import.meta.url), new URL('../other/data.txt', import.meta.url)]
      .map(String).concat([() => import.meta.resolve("file://${root}/secret.txt"), () => import.meta.resolve('npm:other')].map(String))`,
    'node_modules/bad/own.txt': 'its own',
    'node_modules/other/package.json': JSON.stringify({ name: 'other', main: 'index.js' }),
    'node_modules/other/index.js': 'exports.other = 1',
    'node_modules/other/data.txt': 'of another package',
  })
  await symlink(join(root, 'secret.txt'), join(root, 'node_modules/bad/link.txt'))
  const { files } = await bundleFolder(join(root, 'fn'), null)
  expect([...files.values()].map(String)).toEqual(['its own'])
})

test('code that has an address in words of its own is left as it is', async () => {
  await lay({
    'fn/index.ts': `const said = [() => import.meta.resolve("file://${root}/secret.txt"), () => import.meta.resolve("file://host/x"),
        () => new URL('https://a.test/x', import.meta.url), () => new URL('100%', import.meta.url), () => import.meta.resolve("npm:other")]
      export default String(said)`,
    'secret.txt': 'a secret of the machine',
    'node_modules/other/package.json': JSON.stringify({ name: 'other', main: 'index.js' }),
    'node_modules/other/index.js': 'exports.other = 1',
  })
  const { code, files } = await bundleFolder(join(root, 'fn'), null)
  expect([...files.values()].map(String)).toEqual(['exports.other = 1'])
  expect(Buffer.from(code).toString()).toContain(`import.meta.resolve("file://${root}/secret.txt")`)
})

test('a CommonJS package finds its WebAssembly beside itself', async () => {
  await lay({
    'fn/index.ts': `import size from 'wasm-package'; export default size`,
    'node_modules/wasm-package/package.json': JSON.stringify({ name: 'wasm-package', main: 'index.js' }),
    'node_modules/wasm-package/index.js': `const fs = require('fs'), path = require('path')
      const name = "core.wasm"; module.exports = fs.readFileSync(path.join(__dirname, name)).length`,
    'node_modules/wasm-package/core.wasm': new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]),
  })
  expect((await run('fn')).value).toBe(8)
})

test('require of a computed name finds the packages and files that the code names', async () => {
  await lay({
    'fn/node_modules/web/package.json': JSON.stringify({ name: 'web', main: 'index.js' }),
    // As Express does: the extension of a view names its engine.
    'fn/node_modules/web/index.js': `module.exports = (file) => require(file.split('.').pop()).render(file)`,
    'fn/node_modules/ejs/package.json': JSON.stringify({ name: 'ejs', main: 'index.js' }),
    'fn/node_modules/ejs/index.js': `module.exports = { render: (file) => 'ejs of ' + file }`,
    'fn/node_modules/broken/package.json': JSON.stringify({ name: 'broken', main: 'index.js' }),
    'fn/node_modules/broken/index.js': `throw new Error('this one is never asked for')`,
    'fn/users/index.js': `module.exports = ['ann']`,
    'fn/lib/data.json': '{"n":1}',
    'fn/index.js': `const path = require('node:path'); const web = require('web'); const also = 'broken'
      const get = (name) => require(name)
      const missing = () => { try { get('absent') } catch (error) { return error.code } }
      module.exports = [web('page.ejs'), get('./users'), get(path.join(__dirname, 'lib', 'data.json')).n, './lib/data.json', get('node:os').EOL, missing(), also]`,
  })
  const { value } = await run('fn')
  expect(value).toEqual(['ejs of page.ejs', ['ann'], 1, './lib/data.json', '\n', 'MODULE_NOT_FOUND', 'broken'])
})

test('what cannot be bundled is left out when it is only named', async () => {
  await lay({
    'fn/node_modules/native/package.json': JSON.stringify({ name: 'native', main: 'index.js' }),
    'fn/node_modules/native/index.js': `module.exports = require('./build/native.node')`,
    'fn/index.js': `const get = (name) => require(name); module.exports = ['native', typeof get('node:fs').readFileSync]`,
  })
  expect((await run('fn')).value).toEqual(['native', 'function'])
})
