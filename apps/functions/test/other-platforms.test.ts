import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bundleFolder } from '@terrane/bundler'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const { probed, title } = await tryRuntime('deno', 'standard')

describe.skipIf(probed === null)(`programs of other platforms on ${title}`, () => {
  let host: TestHost
  beforeAll(async () => {
    host = await startHost(probed!)
  })
  afterAll(() => host[Symbol.asyncDispose]())

  const call = async (name: string, source: string, headers: Record<string, string> = {}) => {
    await host.deploy(name, source, { env: { MY_SECRET: 's3' } })
    return (await fetch(host.url(name), { headers })).json()
  }

  test('Workers get the environment and a context; programs of this platform find both in their context', async () => {
    const three = `export default { async fetch(request, env, ctx) {
      ctx.waitUntil(Promise.resolve()); ctx.passThroughOnException()
      return Response.json([env.MY_SECRET, Object.keys(env), typeof env.requestId]) } }`
    expect(await call('three', three)).toEqual(['s3', ['MY_SECRET'], 'undefined'])
    const rest = `export default { fetch: (request, ...rest) => Response.json([rest[0].MY_SECRET, typeof rest[1].waitUntil]) }`
    expect(await call('rest', rest)).toEqual(['s3', 'function'])
    const own = `export default (request, ctx) => Response.json([ctx.requestId, ctx.MY_SECRET, JSON.stringify(ctx).includes('s3')])`
    expect(await call('own', own, { 'x-request-id': 'r-1' })).toEqual(['r-1', 's3', false])
    const info = `Deno.serve((request, info) => Response.json(info.remoteAddr))`
    expect(await call('info', info)).toEqual({ transport: 'tcp', hostname: '127.0.0.1', port: 0 })
  })

  test('the server of node:http that a Worker hands over answers', async () => {
    const source = `import { httpServerHandler } from 'cloudflare:node'
      import { createServer } from 'node:http'
      createServer((request, response) => response.end(JSON.stringify(request.headers))).listen(8080)
      export default httpServerHandler({ port: 8080 })`
    const headers = (await call('server', source, { 'x-mine': 'kept' })) as Record<string, string>
    expect(headers['x-mine']).toBe('kept')
    expect(Object.keys(headers).filter((name) => name.startsWith('x-terrane-'))).toEqual([])
  })

  test('a cache that cannot be reached finds nothing, and the log says so once', async () => {
    const cached = `export default { async fetch(request) {
      const found = await caches.default.match(request)
      await caches.default.put(request.url, new Response('kept'))
      return Response.json(found ? await found.text() : null) } }`
    expect(await call('cached', cached)).toBeNull()
    expect(await (await fetch(host.url('cached'))).json()).toBeNull()
    const said = () => host.lines.filter(({ name, text }) => name === 'cached' && text.startsWith('caches: '))
    await expect.poll(() => said().map(({ level }) => level), { timeout: 60_000 }).toEqual(['warn'])
  })
})

describe('sources of other platforms', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'terrane-others-'))
  })
  afterEach(() => rm(folder, { recursive: true }))
  const build = async (files: Record<string, string>) => {
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(folder, path)), { recursive: true })
      await writeFile(join(folder, path), text)
    }
    return bundleFolder(join(folder, 'fn'), null)
  }
  const problemOf = (files: Record<string, string>) =>
    build(files).then(
      () => '',
      (error: Error) => error.message,
    )

  test('a module whose name ends in .node is one, unless it is a native add-on', async () => {
    const tool = { 'node_modules/tool/package.json': '{"name":"tool","version":"1.0.0","main":"index.js"}' }
    const { code } = await build({
      ...tool,
      'node_modules/tool/index.js': `exports.name = require('./platform.node').name`,
      'node_modules/tool/platform.node.js': `exports.name = 'platform'`,
      'fn/index.ts': `import { name } from 'tool'\nexport default () => new Response(name)`,
    })
    expect(Buffer.from(code).toString()).toContain('"platform"')
    const addOn = { 'node_modules/tool/index.js': `require('./x.node')`, 'node_modules/tool/x.node': 'x' }
    expect(await problemOf(addOn)).toContain('native add-ons do not run in a function')
  })

  test('modules of Cloudflare that are not offered are errors, and its files of text are imported', async () => {
    const imports = (name: string) => problemOf({ 'fn/index.ts': `import * as all from '${name}'\nconsole.log(all)` })
    expect(await imports('cloudflare:workers')).toBe('')
    for (const name of ['page.html', 'a.md', 'b.sql']) {
      const reading = `import text from './${name}'\nconsole.log(text)`
      expect(await problemOf({ [`fn/${name}`]: '# text', 'fn/index.ts': reading })).toBe('')
    }
    expect(await imports('cloudflare:sockets')).toContain(
      `'cloudflare:sockets': this module of Cloudflare is not offered here`,
    )
  })
})
