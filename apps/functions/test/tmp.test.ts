import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startApp, type TestApp } from './support/app.ts'

let app: TestApp
let folder: string
beforeAll(async () => {
  folder = await functionsFolder()
  app = await startApp({ TERRANE_FUNCTIONS_DIR: folder })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await rm(folder, { recursive: true })
})

const MB = 'const mb = new Uint8Array(1024 * 1024).fill(7);'

/** Each function answers with its body's return value as JSON. */
const FUNCTIONS: Readonly<Record<string, { readonly source: string; readonly policy?: object }>> = {
  deno: {
    source: `await Deno.mkdir('/tmp/a/b', { recursive: true })
      const file = await Deno.create('/tmp/a/b/c.txt')
      await file.write(new TextEncoder().encode('hello '))
      await new Response('you').body.pipeTo(file.writable)
      await Deno.writeTextFile('/tmp/a/b/c.txt', '!', { append: true })
      const read = Deno.openSync('/tmp/a/b/c.txt'); read.seekSync(-4, 2)
      const last = new Uint8Array(9); const count = read.readSync(last); const end = read.readSync(last); read.close()
      const info = await Deno.stat('/tmp/a/b/../b/c.txt')
      const names = []; for await (const { name, isDirectory } of Deno.readDir('/tmp/a')) names.push([name, isDirectory])
      await Deno.rename('/tmp/a/b/c.txt', '/tmp/d.txt')
      const gone = await Deno.readFile('/tmp/a/b/c.txt').catch((error) => error instanceof Deno.errors.NotFound)
      const taken = await Deno.writeTextFile('/tmp/d.txt', '', { createNew: true }).catch((error) => error.name)
      const place = await Deno.makeTempDir({ prefix: 'x-' }); Deno.writeFileSync(place + '/y', new Uint8Array(3))
      const full = await Deno.remove(place).catch((error) => error.code); await Deno.remove(place, { recursive: true })
      return { text: await Deno.readTextFile('/tmp/d.txt'), count, end, size: info.size, isFile: info.isFile, names, gone, taken,
        place: place.startsWith('/tmp/x-'), full, real: Deno.realPathSync('/tmp/a/../d.txt') }`,
  },
  node: {
    source: `import fs, { createReadStream, createWriteStream, existsSync, readFileSync } from 'node:fs'
      import { mkdtemp, readFile, rm, writeFile, open } from 'fs/promises'
      import { tmpdir } from 'node:os'
      import { join } from 'node:path'
      import { pipeline } from 'node:stream/promises'
      import { promisify } from 'node:util'
      const folder = await mkdtemp(join(tmpdir(), 'node-')); const path = join(folder, 'a.txt')
      await writeFile(path, 'one'); fs.appendFileSync(path, ' two')
      await pipeline(createReadStream(path), createWriteStream(join(folder, 'b.txt')))
      const handle = await open(path, 'r'); const { bytesRead } = await handle.read(Buffer.alloc(3), 0, 3, 0); await handle.close()
      const fd = fs.openSync(path, 'r+'); fs.writeSync(fd, 'ONE', 0); fs.closeSync(fd)
      const called = await promisify(fs.readFile)(path, 'utf8')
      const stat = await new Promise((resolve) => fs.stat(path, (error, found) => resolve(found.size)))
      const read = [readFileSync(path, 'utf8'), await readFile(join(folder, 'b.txt'), 'utf8'), called]
      await rm(folder, { recursive: true })
      return { read, bytesRead, stat, left: existsSync(path), code: await readFile(path).catch((error) => error.code) }`,
  },
  full: {
    source: `${MB}
      let count = 0; let said = ''
      try { for (;; count++) Deno.writeFileSync('/tmp/' + count, mb) } catch (error) { said = error.message }
      Deno.removeSync('/tmp/0'); Deno.writeFileSync('/tmp/again', mb)
      return { count, said }`,
    policy: { tmp_mb: 4 },
  },
  grown: {
    source: `${MB}
      const file = Deno.openSync('/tmp/grown', { write: true, create: true }); let count = 0; let code = ''
      try { for (;; count++) file.writeSync(mb) } catch (error) { code = error.code }
      const cut = await Deno.truncate('/tmp/grown', 64 * 1024 * 1024).catch((error) => error.code)
      return { count, code, cut, size: file.statSync().size }`,
    policy: { tmp_mb: 4 },
  },
  none: {
    source: `return await Deno.writeTextFile('/tmp/a', 'a').catch((error) => error.code)`,
    policy: { tmp_mb: 0 },
  },
  outside: {
    source: `import fs from 'node:fs'
      const tried = {}
      const attempt = async (name, work) => { tried[name] = await Promise.resolve().then(work).then(() => 'done', (error) => error.name + ' ' + (error.code ?? '')) }
      await attempt('up', () => Deno.readTextFile('/tmp/../etc/passwd'))
      await attempt('node up', () => fs.readFileSync('/tmp/a/../../etc/passwd'))
      await Deno.mkdir('/tmp/links'); fs.symlinkSync('/etc', '/tmp/links/etc')
      await attempt('link', () => Deno.readTextFile('/tmp/links/etc/passwd'))
      await attempt('node link', () => fs.readFileSync('/tmp/links/etc/passwd'))
      await attempt('out', () => { fs.writeFileSync('/tmp/x', 'x'); fs.copyFileSync('/tmp/x', '/var/tmp/x') })
      await attempt('move out', () => Deno.rename('/tmp/x', '/var/tmp/x'))
      await attempt('beside', () => Deno.writeTextFile('/tmpx', ''))
      return tried`,
  },
}

async function functionsFolder(): Promise<string> {
  const root = await mkdtemp(join(tmpdir(), 'terrane-tmp-'))
  await chmod(root, 0o755)
  for (const [name, { source, policy }] of Object.entries(FUNCTIONS)) {
    await mkdir(join(root, name))
    const lines = source.split('\n')
    const imports = lines.filter((line) => line.trim().startsWith('import ')).join('\n')
    const body = lines.filter((line) => !line.trim().startsWith('import ')).join('\n')
    await writeFile(
      join(root, name, 'index.js'),
      `${imports}\nexport default async () => Response.json(await (async () => {${body}})())`,
    )
    await writeFile(join(root, name, 'function.json'), JSON.stringify({ auth: 'none', methods: ['GET'], ...policy }))
  }
  return root
}

const ask = async (name: string): Promise<unknown> => {
  const response = await fetch(app.url(name))
  expect(response.status, JSON.stringify(app.deps.control.logBook.latest('test', name, 9))).toBe(200)
  return response.json()
}

test('Deno keeps files in /tmp', async () => {
  expect(await ask('deno')).toEqual({
    text: 'hello you!',
    count: 4,
    end: null,
    size: 10,
    isFile: true,
    names: [['b', true]],
    gone: true,
    taken: 'AlreadyExists',
    place: true,
    full: 'ENOTEMPTY',
    real: '/tmp/d.txt',
  })
})

test('Node keeps files in /tmp, by callbacks, promises, streams and descriptors', async () => {
  const read = ['ONE two', 'one two', 'ONE two']
  expect(await ask('node')).toEqual({ read, bytesRead: 3, stat: 7, left: false, code: 'ENOENT' })
})

test('a full /tmp says so, and takes again what has room', async () => {
  const said = 'ENOSPC: /tmp is full: it holds 4 MB, which are memory of the function; raise "tmp_mb" in function.json'
  expect(await ask('full')).toEqual({ count: 4, said })
  expect(await ask('grown')).toEqual({ count: 4, code: 'ENOSPC', cut: 'ENOSPC', size: 4 * 1024 * 1024 })
  expect(await ask('none')).toBe('ENOSPC')
})

test('nothing outside is reached by way of /tmp', async () => {
  const tried = (await ask('outside')) as Record<string, string>
  expect(tried['link']).toMatch(/^NotFound/)
  expect(tried['node link']).toMatch(/ENOENT/)
  for (const name of ['up', 'node up', 'out', 'move out', 'beside']) expect(tried[name], name).not.toBe('done')
})
