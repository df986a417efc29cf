// Slow: each save of a folder waits for the watcher and a build; hosts run side by side.
import { writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, test, type TestContext } from 'vitest'
import { ANON_KEY, SERVICE_KEY, startApp } from './support/app.ts'

/** A host that serves a folder, and its helpers. */
async function openFolder(env: Record<string, string> = {}, checkTypes = false) {
  const stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'terrane-folder-'))
  stack.defer(() => rm(folder, { recursive: true, force: true }))
  async function write(path: string, text: string) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  // Its types would be checked too.
  if (!checkTypes) {
    await write(
      'hello/index.ts',
      `import { greeting } from '../_shared/greeting.ts'; export default () => new Response(greeting)`,
    )
    await write('hello/function.json', `{"auth":"none","methods":["GET"]}`)
    await write('_shared/greeting.ts', `export const greeting = 'one'`)
  }
  const app = stack.use(await startApp({ TERRANE_FUNCTIONS_DIR: folder, ...env }, checkTypes))
  const call = async (name = 'hello') => {
    const response = await fetch(app.url(name))
    return `${response.status} ${response.status === 200 ? await response.text() : response.headers.get('x-error-code')}`
  }
  return { folder, app, write, call, [Symbol.asyncDispose]: () => stack.disposeAsync() }
}

/** A host of a folder of the test's own, and what the test does with it. */
async function openOwn(context: Pick<TestContext, 'expect'>, env: Record<string, string> = {}, checkTypes = false) {
  const opened = await openFolder(env, checkTypes)
  return { ...inTest(context, opened), [Symbol.asyncDispose]: () => opened[Symbol.asyncDispose]() }
}

/** The host of tests that add functions of their own and change no others. */
let shared: Awaited<ReturnType<typeof openFolder>>
beforeAll(async () => {
  shared = await openFolder()
})
afterAll(() => shared[Symbol.asyncDispose]())

function inTest({ expect }: Pick<TestContext, 'expect'>, opened: typeof shared) {
  const { folder, app, write, call } = opened
  const expectServed = (answer: string, name = 'hello') => expect.poll(() => call(name), { interval: 50 }).toBe(answer)
  return { folder, app, write, call, expectServed }
}

test.concurrent('what is in the folder is served; folders that begin with _ are not', async (context) => {
  const { expect } = context
  const { call } = inTest(context, shared)
  expect(await call()).toBe('200 one')
  expect(await call('_shared')).toBe('404 FUNCTION_NOT_FOUND')
  expect(await call('shared')).toBe('404 FUNCTION_NOT_FOUND')
})

test.concurrent('a function whose imports could not be fetched is served once they can be, without another save', async (context) => {
  const { expect } = context
  let isAway = true
  const modules = createServer((_, response) => {
    if (isAway) return void response.destroy()
    response.writeHead(200, { 'content-type': 'application/typescript' }).end(`export const text = 'fetched'`)
  }).listen(0, '127.0.0.1')
  await once(modules, 'listening')
  const host = `127.0.0.1:${(modules.address() as AddressInfo).port}`
  await using opened = await openOwn(context, { TERRANE_FUNCTIONS_IMPORT_HOSTS: host })
  const { app, write, call } = opened
  try {
    await write('far/function.json', `{"auth":"none","methods":["GET"]}`)
    await write(
      'far/index.ts',
      `import { text } from 'http://${host}/text.ts'; export default () => new Response(text)`,
    )
    const unbuilt = async () =>
      /terrane_function_unbuilt{.*function="far".*reason="imports".*} 1/.test(await app.deps.registry.metrics())
    await expect.poll(unbuilt, { timeout: 30_000 }).toBe(true)
    expect(await call()).toBe('200 one')
    isAway = false
    await expect.poll(() => call('far'), { interval: 200, timeout: 60_000 }).toBe('200 fetched')
    expect(await unbuilt()).toBe(false)
    expect(await app.deps.registry.metrics()).toMatch(/^terrane_function_spares(?:{.*})? [01]$/m)
  } finally {
    modules.close()
  }
})

test.concurrent('names with capital letters are served as they are, and a folder that no name fits is said to be left out', async (context) => {
  const { expect } = context
  const { app, write, call, expectServed } = inTest(context, shared)
  const source = `export default () => new Response('here')`
  for (const name of ['SendMail', 'send mail', '.hidden']) {
    await write(`${name}/index.ts`, source)
    await write(`${name}/function.json`, `{"auth":"none","methods":["GET"]}`)
  }
  await write('docs of mine/read.md', 'no function')
  await expectServed('200 here', 'SendMail')
  expect(await call('sendmail')).toBe('404 FUNCTION_NOT_FOUND')
  const logs = await fetch(`${app.origin}/v1/projects/test/functions/SendMail/logs`, {
    headers: { apikey: SERVICE_KEY },
  })
  expect([logs.status, await logs.text()]).toEqual([200, expect.stringContaining('function built')])
  const said = (name: string) => app.deps.control.logBook.latest('test', name, 10).map(({ fields }) => fields)
  await expect.poll(() => said('send mail')).toEqual([{ reason: expect.stringContaining(`'send mail'`) as string }])
  // Another scan.
  await write('another/index.ts', source)
  await write('another/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('200 here', 'another')
  expect([said('send mail').length, said('.hidden').length, said('docs of mine').length]).toEqual([1, 0, 0])
})

test.concurrent('a saved file is served, a shared one too, written in place or replaced', async (context) => {
  await using opened = await openOwn(context)
  const { folder, write, expectServed } = opened
  await write('hello/index.ts', `export default () => new Response('two')`)
  await expectServed('200 two')
  await write(
    'hello/index.ts',
    `import { greeting } from '../_shared/greeting.ts'; export default () => new Response(greeting)`,
  )
  await expectServed('200 one')
  await write('_shared/greeting.ts', `export const greeting = 'three'`)
  await expectServed('200 three')
  await write('_shared/new.tmp', `export const greeting = 'four'`)
  await rename(join(folder, '_shared/new.tmp'), join(folder, '_shared/greeting.ts'))
  await expectServed('200 four')
})

test.concurrent('what does not build is listed with what the build said, until it does', async (context) => {
  const { expect } = context
  const { app, write, call, expectServed } = inTest(context, shared)
  await write('broken/index.ts', `import { nothing } from './missing.ts'; export default () => new Response(nothing)`)
  await write('broken/function.json', `{"auth":"none","methods":["GET"]}`)
  const listed = async (name: string) => {
    const { body } = await app.control('GET', '/functions')
    const { data } = body as { data: { name: string; policy: unknown; problem: Record<string, string> | null }[] }
    return data.find((shown) => shown.name === name)
  }
  const problemOf = async (name: string) => (await listed(name))?.problem?.['code'] ?? null
  await expect.poll(() => problemOf('broken'), { interval: 20 }).toBe('FUNCTION_BUNDLE_FAILED')
  expect(await listed('broken')).toMatchObject({
    policy: null,
    version: 0,
    problem: { details: expect.stringContaining('missing.ts') as string },
  })
  // A function that is still being built is not in the list.
  await expect.poll(() => listed('hello'), { interval: 20 }).toMatchObject({ problem: null })
  await write('broken/missing.ts', `export const nothing = 'mended'`)
  await expectServed('200 mended', 'broken')
  expect(await listed('broken')).toMatchObject({ problem: null, policy: { auth: 'none' } })
  await write('broken/index.ts', `export default (`)
  await expect.poll(() => problemOf('broken'), { interval: 20 }).toBe('FUNCTION_BUNDLE_FAILED')
  expect(await listed('broken')).toMatchObject({ policy: { auth: 'none' } })
  expect(await call('broken')).toBe('200 mended')
})

test.concurrent('a broken file leaves the old version in place until it is mended', async (context) => {
  const { expect } = context
  await using opened = await openOwn(context)
  const { write, call, expectServed } = opened
  await call()
  await write('_shared/greeting.ts', `export const greeting =`)
  await write('added/index.ts', `export default () => new Response('added')`)
  await write('added/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('200 added', 'added')
  expect(await call()).toBe('200 one')
  await write('_shared/greeting.ts', `throw new Error('at start'); export const greeting = ''`)
  await write('added/index.ts', `export default () => new Response('again')`)
  await expectServed('200 again', 'added')
  expect(await call()).toBe('200 one')
  await write('_shared/greeting.ts', `export const greeting = 'mended'`)
  await expectServed('200 mended')
})

test.concurrent('a function that has never been whole says so', async (context) => {
  const { expect } = context
  const { app, write, expectServed } = inTest(context, shared)
  await write('partial/index.ts', `import './missing.ts'; export default () => new Response('whole')`)
  await write('partial/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('503 FUNCTION_BOOT_ERROR', 'partial')
  const log = await fetch(`${app.origin}/v1/projects/test/functions/partial/logs`, { headers: { apikey: SERVICE_KEY } })
  expect(await log.text()).toContain('Could not resolve')
  await write('partial/missing.ts', ``)
  await expectServed('200 whole', 'partial')
})

test.concurrent('policy, variables and static files are followed too', async (context) => {
  await using opened = await openOwn(context)
  const { write, expectServed } = opened
  const read = `export default () => new Response((Deno.env.get('A') ?? '-') + (Deno.env.get('B') ?? '-') + Deno.readTextFileSync(new URL('./t.txt', import.meta.url)))`
  await write('hello/t.txt', 'x')
  await write('hello/index.ts', read)
  await write('hello/function.json', `{"auth":"none","methods":["GET"],"static":["t.txt"]}`)
  await expectServed('200 --x')
  await write('.env', 'A=1\nSUPABASE_URL=stolen')
  await expectServed('200 1-x')
  await write('hello/.env', 'A=2\nB="3 4"')
  await expectServed('200 23 4x')
  await write('hello/t.txt', 'y')
  await expectServed('200 23 4y')
  await write('hello/function.json', `{"auth":"service"}`)
  await expectServed('405 METHOD_NOT_ALLOWED')
})

test.concurrent('functions come, go, and come again', async (context) => {
  const { folder, write, expectServed } = inTest(context, shared)
  await write('second/index.ts', `export default () => new Response('second')`)
  await write('second/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('200 second', 'second')
  await rm(join(folder, 'second'), { recursive: true })
  await expectServed('404 FUNCTION_NOT_FOUND', 'second')
  await write('second/index.ts', `export default () => new Response('third')`)
  await write('second/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('200 third', 'second')
  await write('second/index.ts', `export default () => new Response('fourth')`)
  await expectServed('200 fourth', 'second')
})

test.concurrent('a linked file and a linked folder are followed where they lie', async (context) => {
  const { folder, expectServed } = inTest(context, shared)
  const elsewhere = await mkdtemp(join(tmpdir(), 'terrane-elsewhere-'))
  await writeFile(join(elsewhere, 'lib.ts'), `export const x = 'linked'`)
  await mkdir(join(elsewhere, 'fn'))
  await writeFile(join(elsewhere, 'fn/index.ts'), `export { default } from '../main.ts'`)
  await writeFile(join(elsewhere, 'fn/function.json'), `{"auth":"none","methods":["GET"]}`)
  await writeFile(join(elsewhere, 'main.ts'), `import { x } from './lib.ts'; export default () => new Response(x)`)
  await symlink(join(elsewhere, 'fn'), join(folder, 'linked'))
  await expectServed('200 linked', 'linked')
  await writeFile(join(elsewhere, 'lib.ts'), `export const x = 'changed'`)
  await expectServed('200 changed', 'linked')
  await rm(elsewhere, { recursive: true })
})

test.concurrent('packages are found in node_modules, under every name that users give them', async (context) => {
  const { expect } = context
  await using opened = await openOwn(context)
  const { write, call, expectServed } = opened
  await write('node_modules/left/package.json', `{"name":"left","version":"1.0.0","main":"./main.cjs"}`)
  await write('node_modules/left/main.cjs', `const { join } = require('path'); exports.left = (s) => join('left', s)`)
  await write(
    'node_modules/@jsr/std__x/package.json',
    `{"name":"@jsr/std__x","version":"1.0.0","exports":"./mod.js","type":"module"}`,
  )
  await write('node_modules/@jsr/std__x/mod.js', `export const y = 'jsr'`)
  await write('deno.json', `{"imports":{"mapped":"npm:left@1","@/":"./_shared/"}}`)
  await write(
    'hello/index.ts',
    `import 'jsr:@supabase/functions-js/edge-runtime.d.ts'
     import { left } from 'npm:left@^1.0.0'; import { left as again } from 'mapped'; import { y } from 'jsr:@std/x@1'; import { join } from 'node:path'; import { Buffer } from 'buffer'
     export default () => new Response([left('a') === again('a'), left('b'), y, join('c', 'd'), Buffer.from('e')].join())`,
  )
  await expectServed('200 true,left/b,jsr,c/d,e')
  await write('hello/index.ts', `import 'npm:not-there@2'`)
  await write('hello/function.json', `{"auth":"none","methods":["GET"],"description":"changed"}`)
  expect(await call()).toBe('200 true,left/b,jsr,c/d,e')
})

test.concurrent('a policy that comes a moment after the code counts from the first call on', async (context) => {
  const { expect } = context
  const { folder, app, write } = inTest(context, shared)
  await write('late/index.ts', `export default () => new Response('code')`)
  // This timer fires before the one by which the host looks a second time.
  await new Promise((resolve) => setTimeout(resolve, 60))
  writeFileSync(join(folder, 'late/function.json'), `{"auth":"service"}`)
  const as = async (apikey: string) => (await fetch(app.url('late'), { method: 'POST', headers: { apikey } })).status
  const met = new Set<number>()
  await expect
    .poll(async () => {
      met.add(await as(ANON_KEY))
      return [...met].at(-1)
    })
    .toBe(403)
  expect(await as(SERVICE_KEY)).toBe(200)
  expect([...met]).not.toContain(200)
})

test.concurrent('a stricter policy counts while the code beside it is broken, and a wider one waits for the code', async (context) => {
  const { expect } = context
  await using opened = await openOwn(context)
  const { write, call, expectServed } = opened
  expect(await call()).toBe('200 one')
  await write('hello/index.ts', `export default (`)
  await write('hello/function.json', `{"auth":"service","methods":["GET"]}`)
  await expectServed('401 UNAUTHORIZED')
  await write('hello/function.json', `{"auth":"none","methods":["GET"]}`)
  await write('hello/index.ts', `export default () => new Response('mended')`)
  await expectServed('200 mended')
})

test.concurrent('a package that is missing is found once it is installed', async (context) => {
  const { write, expectServed } = inTest(context, shared)
  await write('needs/index.ts', `import { x } from 'npm:@scope/later@1'; export default () => new Response(x)`)
  await write('needs/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('503 FUNCTION_BOOT_ERROR', 'needs')
  await write('node_modules/@scope/later/index.js', `export const x = 'installed'`)
  await write('node_modules/@scope/later/package.json', `{"name":"@scope/later","version":"1.0.0","type":"module"}`)
  await expectServed('200 installed', 'needs')
  await write('node_modules/@scope/later/index.js', `export const x = 'updated'`)
  await write('node_modules/.package-lock.json', `{"lockfileVersion":3}`)
  await expectServed('200 updated', 'needs')
})

test.concurrent('a function whose code is gone is gone, until it comes back', async (context) => {
  const { expect } = context
  await using opened = await openOwn(context)
  const { folder, write, call, expectServed } = opened
  expect(await call()).toBe('200 one')
  await rm(join(folder, 'hello/index.ts'))
  await expectServed('404 FUNCTION_NOT_FOUND')
  await write('hello/index.ts', `export default () => new Response('back')`)
  await expectServed('200 back')
})

test.concurrent('a folder that contains itself by links does not hold the host', async (context) => {
  const { folder, write, expectServed } = inTest(context, shared)
  await write('loops/data/a.txt', 'a')
  await symlink('.', join(folder, 'loops/data/x'))
  await symlink('.', join(folder, 'loops/data/y'))
  await write(
    'loops/index.ts',
    `export default () => new Response(Deno.readTextFileSync(new URL('./data/a.txt', import.meta.url)))`,
  )
  await write('loops/function.json', `{"auth":"none","methods":["GET"],"static":["data/**"]}`)
  await expectServed('200 a', 'loops')
})

test.concurrent('errors of types are told after the function is served, in the log and in the list', async (context) => {
  const { expect } = context
  await using opened = await openOwn(context, {}, true)
  const { app, write, expectServed } = opened
  await write('typed/index.ts', `const n: number = 'text'; export default () => new Response(String(n))`)
  await write('typed/function.json', `{"auth":"none","methods":["GET"]}`)
  await expectServed('200 text', 'typed')
  const listed = async () => {
    const { data } = (await app.control('GET', '/functions')).body as { data: { name: string; type_errors: unknown }[] }
    return data.find(({ name }) => name === 'typed')!.type_errors
  }
  const error = expect.stringMatching(/^index\.ts:1:7: TS2322 /) as unknown
  await expect.poll(listed, { timeout: 60_000 }).toEqual([error])
  const logged = app.deps.control.logBook.latest('test', 'typed', 20).filter(({ message }) => message === 'type error')
  expect(logged).toMatchObject([{ level: 'warn', fields: { error } }])
  await write('typed/index.ts', `const n: number = 1; export default () => new Response(String(n))`)
  await expectServed('200 1', 'typed')
  await expect.poll(listed, { timeout: 60_000 }).toEqual([])
})
