// Attempts of an instance to read another project's function: its code, variables, sockets and process.
import assert from 'node:assert/strict'
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { bundleFiles } from '@terrane/bundler'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Instance } from '../src/pool/instance.ts'
import { DEFAULT_CEILINGS, readPolicy } from '../src/policy.ts'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const MARK = 'secret-of-the-other-project'
const VICTIM = `const mark = '${MARK}'; export default () => new Response(mark + Deno.env.get('TOKEN'))`

/** Ways by which a function reaches its own code. */
const ABLE = [
  'read',
  'read asynchronously',
  'read by address',
  'open',
  'list',
  'list asynchronously',
  'stat',
  'resolve',
  'chdir',
  'fs.read',
  'fs.promises.read',
  'fs.list',
  'fs.opendir',
  'fs.openAsBlob',
  'import',
  'import of text',
  'import of bytes',
  'import in a data address',
  'import in a blob',
  'require',
  'fetch',
]

/** Tries each way to each path, and answers what did not fail. */
const THIEF = `import fs from 'node:fs'
import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { pathToFileURL } from 'node:url'
const own = decodeURIComponent(new URL('.', import.meta.url).pathname)
const names = (entries) => [...entries].map((entry) => entry.name ?? entry).join()
const href = (path) => pathToFileURL(path).href
const script = (path) => 'export * from ' + JSON.stringify(href(path))
const ways = {
  read: (path) => Deno.readTextFileSync(path),
  'read asynchronously': (path) => Deno.readTextFile(path),
  'read by address': (path) => Deno.readTextFileSync(new URL(href(path))),
  open: (path) => Deno.openSync(path),
  list: (path) => names(Deno.readDirSync(path)),
  'list asynchronously': async (path) => { for await (const { name } of Deno.readDir(path)) return name },
  stat: (path) => Deno.lstatSync(path),
  resolve: (path) => Deno.realPathSync(path),
  'read link': (path) => Deno.readLinkSync(path),
  chdir: (path) => Deno.chdir(path),
  'fs.read': (path) => fs.readFileSync(path, 'latin1'),
  'fs.promises.read': (path) => fs.promises.readFile(path),
  'fs.list': (path) => names(fs.readdirSync(path)),
  'fs.cp': (path) => fs.cpSync(path, own + 'copy', { recursive: true }),
  'fs.opendir': (path) => fs.opendirSync(path).readSync().name,
  'fs.openAsBlob': async (path) => (await fs.openAsBlob(path)).text(),
  import: (path) => import(href(path)),
  'import of JSON': (path) => import(href(path), { with: { type: 'json' } }),
  'import of text': (path) => import(href(path), { with: { type: 'text' } }),
  'import of bytes': (path) => import(href(path), { with: { type: 'bytes' } }),
  'import in a data address': (path) => import('data:application/javascript,' + encodeURIComponent(script(path))),
  'import in a blob': (path) => import(URL.createObjectURL(new Blob([script(path)], { type: 'application/javascript' }))),
  require: (path) => createRequire(own)(path),
  fetch: async (path) => (await fetch(href(path))).text(),
  'open a database': (path) => new DatabaseSync(path, { readOnly: true }).prepare('select 1').all(),
  'load variables': (path) => process.loadEnvFile(path),
  'symbolic link': (path) => { Deno.symlinkSync(path, own + 'link'); return Deno.readTextFileSync(own + 'link') },
  'fs.symlink': (path) => { fs.symlinkSync(path, own + 'link2'); return fs.readFileSync(own + 'link2') },
  link: (path) => { Deno.linkSync(path, own + 'link3'); return Deno.readTextFileSync(own + 'link3') },
  rename: (path) => Deno.renameSync(path, own + 'moved'),
  command: (path) => new Deno.Command('cat', { args: [path] }).outputSync(),
  worker: (path) => new Worker(href(path), { type: 'module' }),
}
const disguises = {
  '': (path) => path,
  'from here': (path) => relative(own, path),
  'through here': (path) => own + relative(own, path),
  'through the root of the process': (path) => '/proc/self/root' + path,
}
export default async (request) => {
  const succeeded = []
  let count = 0
  for (const path of await request.json())
    for (const [disguise, hide] of Object.entries(disguises))
      for (const [way, attempt] of Object.entries(ways)) {
        count++
        try {
          await attempt(hide(path))
          succeeded.push([way, disguise, path].join(' '))
        } catch {}
      }
  const able = []
  for (const [way, attempt] of Object.entries(ways))
    for (const path of [own + 'index.mjs', own])
      try {
        await attempt(path)
        able.push(way)
        break
      } catch {}
  return Response.json({ count, succeeded, able, env: JSON.stringify(Deno.env.toObject()), here: names(Deno.readDirSync('.')) })
}`

const variants = [await tryRuntime('deno', 'standard'), await tryRuntime('deno', 'hardened')]

for (const { probed, title } of variants)
  describe.skipIf(!probed)(`an instance beside those of another project: ${title}`, { timeout: 120_000 }, () => {
    let host: TestHost
    let victim: Instance
    let targets: string[]

    beforeAll(async () => {
      host = await startHost({ ...probed!, spares: 1 })
      await host.deploy('first', VICTIM)
      await fetch(host.url('first'))
      const spare = await waiting()
      const { code } = await bundleFiles(new Map([['index.ts', new TextEncoder().encode(VICTIM)]]))
      const version = await host.store.add(
        { code, files: new Map() },
        {
          project: 'other',
          name: 'victim',
          version: 1,
          policy: readPolicy({}, DEFAULT_CEILINGS),
          env: { TOKEN: MARK },
        },
      )
      victim = await host.factory.start(version, false)
      await victim.ready
      assert.equal(victim.pid, spare)
      const inBase = readdirSync(host.factory.base, { recursive: true, encoding: 'utf8' })
      const home = dirname(dirname(version.codeDir))
      const facts = [
        'environ',
        'cmdline',
        'maps',
        'mem',
        'cwd',
        'root',
        'fd',
        'fd/0',
        `root${version.codeDir}/index.mjs`,
      ]
      targets = [
        host.factory.base,
        ...inBase.map((path) => join(host.factory.base, path)),
        home,
        join(home, 'files.json'),
        version.cacheDir,
        version.codeDir,
        join(version.codeDir, 'index.mjs'),
        host.functions.get('test', 'first')!.version.codeDir,
        join(host.functions.get('test', 'first')!.version.codeDir, 'index.mjs'),
        ...[victim.pid, process.pid].flatMap((pid) => facts.map((fact) => `/proc/${pid}/${fact}`)),
        '/proc/self/environ',
        '/proc/1/environ',
      ]
      assert(inBase.some((path) => path.endsWith('victim/index.mjs')))
    })
    afterAll(async () => {
      victim.kill('stopped')
      await host[Symbol.asyncDispose]()
    })

    async function waiting(): Promise<number> {
      await vi.waitFor(() => expect(host.factory.spares.pids.length).toBe(1), { timeout: 30_000 })
      return host.factory.spares.pids[0]!
    }

    test.each([
      ['a process that waited', {}, true],
      ['a process of its own', { memory_mb: 200 }, false],
    ])('reads nothing of them in %s', async (_, policy, waited) => {
      const spare = await waiting()
      const name = waited ? 'thief' : 'thief-alone'
      await host.deploy(name, THIEF, { policy: { ...policy, methods: ['POST'], timeout_ms: 60_000, block_ms: 30_000 } })
      const response = await fetch(host.url(name), { method: 'POST', body: JSON.stringify(targets) })
      const { count, succeeded, able, env, here } = (await response.json()) as Record<string, unknown>
      const { pid } = [...host.functions.get('test', name)!.pool][0]!
      expect(pid === spare).toBe(waited)
      expect(count).toBeGreaterThan(3000)
      expect(succeeded).toEqual([])
      // The same ways lead to its own code.
      expect(able).toEqual(expect.arrayContaining(ABLE))
      expect(env).not.toContain(MARK)
      expect(here).toBe('index.mjs')
    })

    test('has an own user, no descriptor of the host, and only variables of the runtime while it waits', async () => {
      const pid = await waiting()
      const env = readFileSync(`/proc/${pid}/environ`, 'utf8')
        .split('\0')
        .map((pair) => pair.split('=')[0])
      expect(env).toContain('DENO_DIR')
      expect(env.filter((name) => !/^(?:DENO_DIR|DENO_NO_UPDATE_CHECK|NO_COLOR|PWD|OLDPWD|_|)$/.test(name!))).toEqual(
        [],
      )
      const files = readdirSync(`/proc/${pid}/fd`).map((fd) => readlinkSync(`/proc/${pid}/fd/${fd}`))
      expect(files.filter((file) => file.includes('versions') || file.includes(basename(host.folder)))).toEqual([])
      const userOf = (id: number) => /^Uid:\s+(\d+)/m.exec(readFileSync(`/proc/${id}/status`, 'latin1'))![1]
      const isOwn = process.getuid?.() !== 0 || new Set([userOf(pid), userOf(victim.pid), '0']).size === 3
      expect(isOwn).toBe(true)
    })
  })
