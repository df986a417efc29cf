// Slow: each import is fetched, bundled and started.
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { BuildProcess } from '../src/build/build-process.ts'
import { writeBuildProgram } from '../src/build/build-program.ts'
import { Builder } from '../src/build/builder.ts'
import { DenoImports, bundleFiles, bundleFolder } from '@terrane/bundler'
import { findDeno } from '../src/runtime/machine.ts'
import { STATE_DIR } from './support/runtimes.ts'

const run = promisify(execFile)
const deno = (await findDeno())!
const program = await writeBuildProgram(STATE_DIR)

let root: string
let stack: AsyncDisposableStack
/** Imports of the test, which {@link builds} uses. */
let current: DenoImports
/** Builds in one process for all tests, as a host does for the folders of its project. */
let builds: Builder
beforeAll(() => {
  const fetched = {
    fetch: (folder: string) => current.fetch(folder),
    types: (folder: string) => current.types(folder),
    [Symbol.dispose]: () => {},
  }
  builds = new Builder({ program, parallel: 2, cache: null, imports: fetched })
})
afterAll(() => builds[Symbol.dispose]())
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'terrane-imports-'))
  stack = new AsyncDisposableStack()
  stack.defer(() => rm(root, { recursive: true, force: true }))
})
afterEach(() => stack.disposeAsync())

interface Version {
  readonly code: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly files?: Readonly<Record<string, string>>
}

/** A server of modules, of a registry of packages and of JSR, on loopback. */
async function mirror() {
  const files = new Map<string, { readonly body: string | Buffer; readonly type: string }>()
  const redirects = new Map<string, string>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!)
    asked.push(path)
    const target = redirects.get(path)
    const file = files.get(path)
    if (target !== undefined) response.writeHead(302, { location: target }).end()
    else if (file) response.writeHead(200, { 'content-type': file.type }).end(file.body)
    else response.writeHead(404).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const close = async () => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  stack.defer(close)
  const origin = `http://${host}`
  return {
    host,
    origin,
    asked,
    close,
    module: (path: string, body: string) => files.set(path, { body, type: 'application/typescript' }),
    redirect: (path: string, to: string) => redirects.set(path, to),
    json: (path: string, value: unknown) => files.set(path, { body: JSON.stringify(value), type: 'application/json' }),
    /** Publishes versions of a package, each with an index.js and `files` beside it. */
    async publish(name: string, versions: Record<string, Version>) {
      const about: Record<string, unknown> = {}
      for (const [version, { code, dependencies = {}, files: more = {} }] of Object.entries(versions)) {
        const place = join(root, 'packed', name, version)
        const manifest = { name, version, main: 'index.js', dependencies }
        await write(join(place, 'package', 'package.json'), JSON.stringify(manifest))
        await write(join(place, 'package', 'index.js'), code)
        for (const [file, text] of Object.entries(more)) await write(join(place, 'package', file), text)
        const { stdout } = await run('tar', ['-cz', '-C', place, 'package'], { encoding: 'buffer' })
        const integrity = `sha512-${createHash('sha512').update(stdout).digest('base64')}`
        const path = `/${name}/-/${name}-${version}.tgz`
        files.set(path, { body: stdout, type: 'application/octet-stream' })
        about[version] = { ...manifest, dist: { tarball: origin + path, integrity } }
      }
      const latest = Object.keys(versions).at(-1)
      this.json(`/${name}`, { name, versions: about, 'dist-tags': { latest } })
    },
  }
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  await writeFile(path, text)
}

/** Bundles `functions/fn` and returns what its module exports as `default`. */
async function built(at: { readonly host: string; readonly origin: string }, hosts = [at.host]): Promise<unknown> {
  const env = { NPM_CONFIG_REGISTRY: at.origin, JSR_URL: `${at.origin}/jsr/` }
  const hostsSetting = 'TERRANE_FUNCTIONS_IMPORT_HOSTS'
  current = new DenoImports({ deno, home: join(root, 'imports'), hosts, hostsSetting, env })
  const { code } = await builds.bundleFolder('p', join(root, 'functions', 'fn'))
  const file = join(root, `${crypto.randomUUID()}.mjs`)
  await writeFile(file, code)
  return ((await import(file)) as { default: unknown }).default
}

const fn = (text: string, file = 'fn/index.ts') => write(join(root, 'functions', file), text)

test('modules from addresses are fetched with what they import, through redirects and an import map', async () => {
  const from = await mirror()
  from.redirect('/lib@1/mod.ts', '/lib@1.2.0/mod.ts')
  from.module(
    '/lib@1.2.0/mod.ts',
    `export { greet } from './greet.ts'; import type { Name } from './types.ts'; export type { Name }`,
  )
  from.module('/lib@1.2.0/greet.ts', `export const greet = (name: string) => 'hello ' + name`)
  from.module('/lib@1.2.0/types.ts', 'export type Name = string')
  await fn(JSON.stringify({ imports: { lib: `${from.origin}/lib@1/mod.ts` } }), 'fn/deno.json')
  await fn(`import { greet, type Name } from 'lib'
    import { shared } from '../_shared/shared.ts'
    const name: Name = 'you'
    export default greet(name) + shared`)
  await fn(
    `import { greet } from '${from.origin}/lib@1.2.0/greet.ts'; export const shared = ' and ' + greet('all')`,
    '_shared/shared.ts',
  )
  expect(await built(from)).toBe('hello you and hello all')
})

test('an import map does not lead away a package that a source names with its version', async () => {
  const from = await mirror()
  await from.publish('named', { '1.0.0': { code: `module.exports = 'of the registry'` } })
  from.module('/named.ts', `export default 'of the map'`)
  await fn(JSON.stringify({ imports: { named: `${from.origin}/named.ts` } }), 'fn/deno.json')
  await fn(`import named from 'npm:named@1.0.0'; export default named`)
  expect(await built(from)).toBe('of the registry')
})

test('packages that are not installed are fetched in the version that is asked for, with their own', async () => {
  const from = await mirror()
  await from.publish('outer', {
    '1.0.0': { code: `module.exports = 'outer 1'` },
    '2.1.0': { code: `module.exports = 'outer 2 with ' + require('inner')`, dependencies: { inner: '^1.0.0' } },
  })
  await from.publish('inner', { '1.5.0': { code: `module.exports = 'inner 1.5'` }, '2.0.0': { code: '' } })
  await fn(`import outer from 'npm:outer@2'; import old from 'npm:outer@1.0.0'; export default [outer, old]`)
  expect(await built(from)).toEqual(['outer 2 with inner 1.5', 'outer 1'])
})

test('a fetched package that is also resolved by its name leads to its module', async () => {
  const from = await mirror()
  await from.publish('pack', { '1.0.0': { code: `exports.text = 'one'` } })
  await fn(`import * as pack from 'npm:pack@1'; export default import.meta.resolve('npm:pack@1').slice(-9)`)
  expect(await built(from)).toBe('-index.js')
})

test('JSON from an address is a value', async () => {
  const from = await mirror()
  from.json('/lib/data.json', { version: '1.2.3' })
  from.module('/lib/mod.ts', `import data from './data.json' with { type: 'json' }; export const { version } = data`)
  await fn(`import { version } from '${from.origin}/lib/mod.ts'; export default version`)
  expect(await built(from)).toBe('1.2.3')
})

test('a package that is installed counts while its version is in the requested range', async () => {
  const from = await mirror()
  await from.publish('pack', { '1.0.0': { code: `module.exports = 'fetched 1'` } })
  await write(join(root, 'functions/node_modules/pack/package.json'), `{"name":"pack","version":"2.3.0","main":"i.js"}`)
  await write(join(root, 'functions/node_modules/pack/i.js'), `module.exports = 'installed 2'`)
  await fn(`import pack from 'npm:pack@^2.1'; export default pack`)
  expect(await built(from)).toBe('installed 2')
  expect(from.asked).toEqual([])
  await fn(`import pack from 'npm:pack@1'; export default pack`)
  expect(await built(from)).toBe('fetched 1')
})

test('the dependencies of a package.json are fetched by their ranges', async () => {
  const from = await mirror()
  await from.publish('pack', {
    '1.4.0': { code: `module.exports = 'one'` },
    '2.0.0': { code: `module.exports = 'two'` },
  })
  await fn(`{ "dependencies": { "pack": "^1.0.0", "own": "file:../own" } }`, 'package.json')
  await fn(`import pack from 'pack'; export default pack`)
  expect(await built(from)).toBe('one')
  await fn(`{ "devDependencies": { "pack": "^2.0.0" } }`, 'package.json')
  expect(await built(from)).toBe('two')
  await fn(`{ "devDependencies": { "pack": "^2.0.0" }, "dependencies": { "pack": "^1.0.0" } }`, 'package.json')
  expect(await built(from)).toBe('one')
})

test.each([
  [
    'tsconfig.json',
    `{ "compilerOptions": { /* as vite writes it */ "jsx": "react-jsx", "jsxImportSource": "ui/html", } }`,
  ],
  ['deno.json', `{ "compilerOptions": { "jsx": "react-jsx", "jsxImportSource": "ui/html" } }`],
])('what JSX becomes by a %s is fetched like what is imported', async (name, config) => {
  const from = await mirror()
  const runtime = `exports.jsx = (tag, { children }) => '<' + tag + '>' + children + '</' + tag + '>'`
  await from.publish('ui', { '1.4.0': { code: `exports.one = 1`, files: { 'html/jsx-runtime.js': runtime } } })
  await fn(`{ "dependencies": { "ui": "^1.0.0" } }`, 'fn/package.json')
  await fn(config, `fn/${name}`)
  await fn(
    `import { one } from 'ui'; import { Page } from './page'; export default <p>{one}</p> + <Page />`,
    'fn/index.tsx',
  )
  await fn(`export const Page = () => <b>page</b>`, 'fn/page.tsx')
  // A component is called when it is rendered.
  expect(String(await built(from))).toMatch(/^<p>1<\/p><\(\) =>/)
})

test('a tsconfig.json that cannot be read is reported with its line', async () => {
  const from = await mirror()
  await fn(`{ "compilerOptions": `, 'fn/tsconfig.json')
  await fn(`export default 'served'`)
  await expect(built(from)).rejects.toMatchObject({ details: expect.stringContaining('tsconfig.json:1') as string })
})

test('versions stay those of the first time, also without a network', async () => {
  const from = await mirror()
  await from.publish('pack', { '1.0.0': { code: `module.exports = 'first'` } })
  await fn(`import pack from 'npm:pack@1'; export default pack`)
  expect(await built(from)).toBe('first')
  await from.publish('pack', {
    '1.0.0': { code: `module.exports = 'first'` },
    '1.1.0': { code: `module.exports = 'later'` },
  })
  await fn(`import pack from 'npm:pack@1'; export default 'still ' + pack`)
  expect(await built(from)).toBe('still first')
  await from.close()
  await fn(`import pack from 'npm:pack@1'; export default 'without a network ' + pack`)
  expect(await built(from)).toBe('without a network first')
})

test('the versions of a deno.lock in the functions folder count', async () => {
  const from = await mirror()
  const versions = { '1.0.0': { code: `module.exports = 'locked'` }, '1.1.0': { code: `module.exports = 'later'` } }
  await from.publish('pack', versions)
  const lock = { version: '5', specifiers: { 'npm:pack@1': '1.0.0' }, npm: { 'pack@1.0.0': {} } }
  await fn(JSON.stringify(lock), 'deno.lock')
  await fn(`import pack from 'npm:pack@1'; export default pack`)
  expect(await built(from)).toBe('locked')
})

test('modules of JSR are fetched by their ranges', async () => {
  const from = await mirror()
  from.json('/jsr/@std/sum/meta.json', { scope: 'std', name: 'sum', latest: '1.0.2', versions: { '1.0.2': {} } })
  const text = `import { zero } from './zero.ts'\nexport const sum = (...all: number[]) => all.reduce((a, b) => a + b, zero)\n`
  const zero = `export const zero = 0\n`
  const entry = (body: string) => ({
    size: body.length,
    checksum: `sha256-${createHash('sha256').update(body).digest('hex')}`,
  })
  from.json('/jsr/@std/sum/1.0.2_meta.json', {
    manifest: { '/mod.ts': entry(text), '/zero.ts': entry(zero) },
    exports: { '.': './mod.ts' },
  })
  from.module('/jsr/@std/sum/1.0.2/mod.ts', text)
  from.module('/jsr/@std/sum/1.0.2/zero.ts', zero)
  await fn(`import { sum } from 'jsr:@std/sum@1'; export default sum(1, 2, 3)`)
  expect(await built(from)).toBe(6)
})

test('declarations of types that are imported for their globals hold up no other import, as in a new function of Supabase', async () => {
  const from = await mirror()
  const types = `declare namespace Later { function wait(work: Promise<unknown>): void }\nexport type Name = string\ndeclare global { type Other = number }\n`
  const checksum = `sha256-${createHash('sha256').update(types).digest('hex')}`
  from.json('/jsr/@small/functions/meta.json', {
    scope: 'small',
    name: 'functions',
    latest: '2.4.1',
    versions: { '2.4.1': {} },
  })
  from.json('/jsr/@small/functions/2.4.1_meta.json', {
    manifest: { '/edge-runtime.d.ts': { size: types.length, checksum } },
    exports: { './edge-runtime.d.ts': './edge-runtime.d.ts', './edge': './edge-runtime.d.ts' },
  })
  from.module('/jsr/@small/functions/2.4.1/edge-runtime.d.ts', types)
  from.module('/globals.d.ts', types)
  from.module('/lib.ts', `import './globals.d.ts'; export default 'lib'`)
  await fn(JSON.stringify({ imports: { globals: `${from.origin}/globals.d.ts` } }), 'fn/deno.json')
  await fn(`import 'jsr:@small/functions/edge-runtime.d.ts'
    import 'jsr:@small/functions@2/edge'
    import '${from.origin}/globals.d.ts'
    import 'globals'
    import lib from '${from.origin}/lib.ts'
    export default lib`)
  expect(await built(from)).toBe('lib')
})

test('code from hosts that are not listed is refused, and the setting is named', async () => {
  const from = await mirror()
  from.module('/mod.ts', 'export default 1')
  await fn(`export { default } from '${from.origin}/mod.ts'`)
  await expect(built(from, ['elsewhere.example'])).rejects.toMatchObject({
    code: 'FUNCTION_BUNDLE_FAILED',
    message: expect.stringContaining(
      `code from ${from.host} is not imported: TERRANE_FUNCTIONS_IMPORT_HOSTS does not list it`,
    ),
  })
  await expect(built(from, [])).rejects.toMatchObject({ message: expect.stringContaining('fetches no code') })
  expect(from.asked).toEqual([])
})

test('a redirect to a host that is not listed is refused', async () => {
  const from = await mirror()
  const elsewhere = await mirror()
  elsewhere.module('/mod.ts', 'export default 1')
  from.redirect('/mod.ts', `${elsewhere.origin}/mod.ts`)
  await fn(`export { default } from '${from.origin}/mod.ts'`)
  await expect(built(from)).rejects.toMatchObject({ message: expect.stringContaining(elsewhere.host) })
  expect(elsewhere.asked).toEqual([])
})

test('a module without end is refused before it fills the memory of the host', { timeout: 120_000 }, async () => {
  const mebibyte = Buffer.alloc(2 ** 20, 0x20)
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/typescript' })
    const more = () => {
      while (!response.destroyed && response.write(mebibyte));
      response.once('drain', more)
    }
    more()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = `http://${host}`
  await fn(`export { default } from '${origin}/endless.ts'`)
  await expect(built({ host, origin })).rejects.toMatchObject({
    code: 'FUNCTION_BUNDLE_FAILED',
    message: expect.stringContaining('too large: fetching it took more than 1024 MB'),
    cause: { isRetryable: true, isPassing: false },
  })
})

test('modules that were not there are fetched once they are', async () => {
  const from = await mirror()
  from.module('/mod.ts', `export * from './a.ts'; export { default } from './b.ts'`)
  await fn(`export { default } from '${from.origin}/mod.ts'`)
  const cause = { isRetryable: true, isPassing: false }
  await expect(built(from)).rejects.toMatchObject({ message: expect.stringContaining('/a.ts'), cause })
  from.module('/a.ts', 'export const a = 1')
  await expect(built(from)).rejects.toMatchObject({ message: expect.stringContaining('/b.ts'), cause })
  from.module('/b.ts', 'export default 2')
  expect(await built(from)).toBe(2)
})

test('a server that fails or is away is known to pass, and a file above 256 MiB is named as too large', async () => {
  const body = Buffer.alloc(257 * 2 ** 20, 0x20)
  const server = createServer((request, response) => {
    if (request.url === '/large.ts') response.writeHead(200, { 'content-type': 'application/typescript' }).end(body)
    else if (request.url === '/away.ts') request.socket.destroy()
    else response.writeHead(503).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const origin = `http://${host}`
  for (const name of ['busy', 'away']) {
    await fn(`export { default } from '${origin}/${name}.ts'`)
    await expect(built({ host, origin })).rejects.toMatchObject({ cause: { isRetryable: true, isPassing: true } })
  }
  await fn(`export { default } from '${origin}/large.ts'`)
  await expect(built({ host, origin })).rejects.toMatchObject({
    message: expect.stringContaining('too large: a file is larger than 256 MB'),
    cause: { isPassing: false },
  })
})

test('the advice for what is not installed is the command of its registry', async () => {
  using builder = new Builder({ program, parallel: 1, cache: null })
  await fn(`import 'npm:nothing@1'; import 'jsr:@std/nothing@^2'`)
  await expect(builder.bundleFolder('p', join(root, 'functions', 'fn'))).rejects.toMatchObject({
    details: expect.stringMatching(/run `npm install nothing@1` [^]*run `npx jsr add @std\/nothing@\^2` /),
  })
})

test('errors name what the file says beside what an import map makes of it', async () => {
  await fn(`{"imports":{"pack":"npm:pack@^1.2.0","#lib/":"./lib/"}}`, 'fn/deno.json')
  await fn(`import 'pack'\nimport '#lib/none.ts'`)
  using builder = new Builder({ program, parallel: 1, cache: null })
  const failed = builder.bundleFolder('p', join(root, 'functions', 'fn')).catch((error: Error) => error)
  expect(((await failed) as { details?: string }).details?.split('\n')).toEqual([
    expect.stringMatching(/^index.ts:1: 'npm:pack@\^1.2.0', imported as 'pack', is not installed: /),
    `index.ts:2: Could not resolve "#lib/none.ts", which the imports of deno.json or package.json lead to "lib/none.ts"`,
  ])
})

test('the imports of several functions are fetched at the same time', async () => {
  const asked = Promise.withResolvers<void>()
  const server = createServer((request, response) => {
    const answer = () => response.writeHead(200, { 'content-type': 'application/typescript' }).end('export {}')
    if (request.url === '/second.ts') asked.resolve()
    // The first request is answered when the second one arrives.
    void asked.promise.then(answer)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  stack.defer(() => void server.close())
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  for (const name of ['first', 'second']) await fn(`import 'http://${host}/${name}.ts'`, `${name}/index.ts`)
  using imports = new DenoImports({ deno, home: join(root, 'imports'), hosts: [host], env: {} })
  const graphs = await Promise.all(['first', 'second'].map((name) => imports.fetch(join(root, 'functions', name))))
  expect(graphs.map(({ modules }) => Object.keys(modules))).toEqual([
    [`http://${host}/first.ts`],
    [`http://${host}/second.ts`],
  ])
})

test('what only types need, or import() names, keeps no function from running when it cannot be fetched', async () => {
  const from = await mirror()
  from.module(
    '/lib.js',
    `/// <reference types="./none.d.ts" />\nexport const load = () => import('./none.js').catch(() => 'not there'); export const a = 1`,
  )
  await fn(`import { a, load } from '${from.origin}/lib.js'; export default [a, await load()]`)
  expect(await built(from)).toEqual([1, 'not there'])
})

test('import() of what cannot be fetched rejects with the reason, which a warning says, and can be deployed', async () => {
  const from = await mirror()
  const elsewhere = await mirror()
  from.module('/half.js', `import { gone } from './gone.js'; export default gone`)
  from.module(
    '/whole.js',
    `export const all = () => Promise.all([import('bare').catch(String), import('fs').then(({ existsSync }) => typeof existsSync)])`,
  )
  await fn(`const reason = (error) => error.message
    export default await Promise.all([
      import('${from.origin}/none.ts').catch(reason),
      import('${from.origin}/half.js').catch(reason),
      import('${elsewhere.origin}/other.ts').catch(reason),
      import('${from.origin}/whole.js').then(({ all }) => all()),
    ])`)
  const rejected = (address: string) => expect.stringContaining(`import() of '${address}' rejects: `)
  const all = ['none.ts', 'gone.js'].map((name) => rejected(`${from.origin}/${name}`))
  all.push(rejected(`${elsewhere.origin}/other.ts`))
  expect(await built(from)).toEqual([...all, [rejected('bare'), 'function']])
  using imports = new DenoImports({ deno, home: join(root, 'imports'), hosts: [from.host], env: {} })
  const folder = join(root, 'functions/fn')
  const { code, warnings } = await bundleFolder(folder, await imports.fetch(folder))
  expect(warnings).toEqual(expect.arrayContaining(all))
  await expect(bundleFiles(new Map([['index.mjs', code]]))).resolves.toMatchObject({ warnings: [] })
})

test('a package that does not exist is named together with who imports it', async () => {
  const from = await mirror()
  await fn(`import nothing from 'npm:nothing-of-the-kind@1'; export default nothing`)
  await expect(built(from)).rejects.toMatchObject({
    code: 'FUNCTION_BUNDLE_FAILED',
    details: expect.stringMatching(/nothing-of-the-kind[^]*index\.ts:1: 'npm:nothing-of-the-kind@1' is not installed/),
  })
})

test('a WebAssembly module exports what it exports, and its bytes by default', async () => {
  const from = await mirror()
  // (module (func (export "add") (param i32 i32) (result i32) local.get 0 local.get 1 i32.add))
  const hex = '0061736d0100000001070160027f7f017f030201000707010361646400000a09010700200020016a0b'
  await fn('', 'fn/math.wasm')
  await writeFile(join(root, 'functions/fn/math.wasm'), Buffer.from(hex, 'hex'))
  await fn(
    `import { add } from './math.wasm'; import bytes from './math.wasm'; export default [add(2, 3), bytes.length]`,
  )
  expect(await built(from)).toEqual([5, hex.length / 2])
})

test('a package that requires what is not there fails only where it does so', async () => {
  const from = await mirror()
  await from.publish('careful', {
    '1.0.0': { code: `exports.plain = 'plain'; exports.fast = () => require('not-there-at-all')` },
  })
  await fn(`import careful from 'npm:careful'
    let code
    try { careful.fast() } catch (error) { code = error.code }
    export default [careful.plain, code]`)
  expect(await built(from)).toEqual(['plain', 'MODULE_NOT_FOUND'])
})

test('TypeScript is a module whatever package.json says, and CommonJS has its folder', async () => {
  const from = await mirror()
  await fn(`{ "type": "commonjs" }`, 'package.json')
  await fn(`const { basename } = require('node:path'); module.exports = typeof basename(__dirname)`, 'fn/old.cjs')
  await fn(`const later = await Promise.resolve('later'); globalThis.seen = later`, 'fn/plain.ts')
  await fn(`import old from './old.cjs'; import './plain.ts'; export default [old, globalThis.seen]`)
  expect(await built(from)).toEqual(['string', 'later'])
})

test('decorators are those of TypeScript where deno.json asks for them', async () => {
  const from = await mirror()
  await fn(`{ "compilerOptions": { "experimentalDecorators": true } }`, 'fn/deno.json')
  await fn(`const seen: string[] = []
    const mark = (_target: object, name: string, _descriptor: PropertyDescriptor) => { seen.push(name) }
    class A { @mark method() {} }
    new A()
    export default seen`)
  expect(await built(from)).toEqual(['method'])
})

test('the types of a function are looked at with what it imports, and its shared code', async () => {
  const from = await mirror()
  from.module('/lib.ts', 'export const answer: number = 42')
  const env = { NPM_CONFIG_REGISTRY: from.origin }
  using imports = new DenoImports({ deno, home: join(root, 'imports'), hosts: [from.host], env })
  const folder = join(root, 'functions', 'fn')
  await fn('export const shared: string = 1', '_shared/shared.ts')
  await fn(`import { answer } from '${from.origin}/lib.ts'
    import { shared } from '../_shared/shared.ts'
    EdgeRuntime.waitUntil(Promise.resolve())
    const text: string = answer
    Deno.serve(() => new Response(text + shared))`)
  await imports.fetch(folder)
  expect(await imports.types(folder)).toEqual({
    errors: [
      expect.stringMatching(/^\.\.\/_shared\/shared\.ts:1:14: TS2322 /),
      expect.stringMatching(/^index\.ts:4:11: TS2322 Type 'number'/),
    ],
    unchecked: null,
  })
  await fn('export const shared: string = "1"', '_shared/shared.ts')
  await fn(`import { shared } from '../_shared/shared.ts'; export default () => new Response(shared)`)
  expect(await imports.types(folder)).toEqual({ errors: [], unchecked: null })
})

test('types that need what was not fetched are not looked at, and it is said why', async () => {
  using imports = new DenoImports({ deno, home: join(root, 'imports'), hosts: ['127.0.0.1:1'], env: {} })
  await fn(`import 'http://127.0.0.1:1/a.ts'`)
  const { errors, unchecked } = await imports.types(join(root, 'functions', 'fn'))
  expect([errors, unchecked === null]).toEqual([[], false])
})

test('a folder that had to be fetched for is bundled once when it is saved again', async () => {
  const from = await mirror()
  from.module('/lib.ts', 'export default 1')
  const imports = new DenoImports({ deno, home: join(root, 'imports'), hosts: [from.host], env: {} })
  using builder = new Builder({ program, parallel: 1, cache: null, imports })
  const folder = join(root, 'functions', 'fn')
  const fetched = vi.spyOn(imports, 'fetch')
  const bundled = async (text: string) => {
    await fn(`import one from '${from.origin}/lib.ts'; export default '${text}' + one`)
    const { code } = await builder.bundleFolder('p', folder)
    return Buffer.from(code).includes(text)
  }
  const runs = vi.spyOn(BuildProcess.prototype, 'run')
  expect(await bundled('first')).toBe(true)
  expect([runs.mock.calls.length, fetched.mock.calls.length]).toEqual([2, 1])
  expect(await bundled('second')).toBe(true)
  expect([runs.mock.calls.length, fetched.mock.calls.length]).toEqual([3, 2])
  runs.mockRestore()
})
