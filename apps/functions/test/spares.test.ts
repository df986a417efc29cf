// Slow: processes are started before they are needed.
import { readFileSync, readdirSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { startHost, type TestHost } from './support/host.ts'
import { tryRuntime } from './support/runtimes.ts'

const WHO = `export default () => Response.json({ pid: Deno.pid, path: new URL('.', import.meta.url).pathname })`
const variants = [await tryRuntime('deno', 'standard'), await tryRuntime('deno', 'hardened')]

/** False also for a zombie process. */
function isAlive(pid: number): boolean {
  try {
    return !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}

for (const { probed, title } of variants)
  describe.skipIf(!probed)(`processes that wait for a cold start: ${title}`, () => {
    let host: TestHost
    beforeEach(async () => {
      host = await startHost({ ...probed!, spares: 1 })
      // The first start of a host is followed by the processes that wait.
      await host.deploy('first', WHO)
      await call('first')
      await waiting()
    })
    afterEach(() => host[Symbol.asyncDispose]())

    const call = async (name: string) => (await fetch(host.url(name))).json() as Promise<Record<string, unknown>>
    const pids = (name: string) => [...host.functions.get('test', name)!.pool].map(({ pid }) => pid)
    async function waiting(): Promise<number> {
      await expect.poll(() => host.factory.spares.pids.length, { timeout: 30_000 }).toBe(1)
      return host.factory.spares.pids[0]!
    }

    test('become the instance of one version, which sees its own name and folder', async () => {
      const spare = await waiting()
      await host.deploy('small', WHO)
      expect((await call('small'))['path']).toMatch(/\/small\/$/)
      expect(pids('small')).toEqual([spare])
      const next = await waiting()
      expect(next).not.toBe(spare)
      await host.deploy('other', WHO)
      await call('other')
      expect([pids('small'), pids('other')]).toEqual([[spare], [next]])
    })

    test('are not used for another limit of memory, for static files, or for a large bundle', async () => {
      const spare = await waiting()
      await host.deploy('memory', WHO, { policy: { memory_mb: 200 } })
      await host.deploy('files', WHO, { files: { 'a.txt': 'a' }, policy: { static: ['a.txt'] } })
      await host.deploy('large', `${WHO}\n;globalThis.text = '${'x'.repeat(300_000)}'`)
      for (const name of ['memory', 'files', 'large']) {
        await call(name)
        expect(pids(name)).not.toContain(spare)
      }
      expect(await waiting()).toBe(spare)
    })

    test('read only the code of their own version, and write nothing', async () => {
      const { path } = await call('first')
      await host.deploy(
        'curious',
        `const attempt = (work) => { try { return String(work()) } catch (error) { return error.name } }
         export default (req) => Response.json([
           attempt(() => [...Deno.readDirSync('.')].map(({ name }) => name)),
           attempt(() => Deno.readTextFileSync(new URL(req.url).searchParams.get('path') + 'index.mjs').length),
           attempt(() => Deno.readTextFileSync('/etc/passwd').length),
           attempt(() => Deno.writeTextFileSync('x', 'x')),
           attempt(() => Deno.writeTextFileSync('../x', 'x')),
         ])`,
      )
      const spare = await waiting()
      expect(await call(`curious?path=${String(path)}`)).toEqual([
        'index.mjs',
        'NotCapable',
        'NotCapable',
        'NotCapable',
        'NotCapable',
      ])
      expect(pids('curious')).toEqual([spare])
    })

    test('name the line of the source where it fails', async () => {
      const spare = await waiting()
      await host.deploy(
        'failing',
        `const fail = () => {\n  throw new Error('on line 2')\n}\nexport default () => fail()`,
      )
      expect((await fetch(host.url('failing'))).status).toBe(500)
      expect(pids('failing')).toEqual([spare])
      await expect.poll(() => host.lines.map(({ text }) => text).join('\n')).toMatch(/on line 2[^]*index\.ts:2/)
    })

    test('end with a start that fails', async () => {
      await using closed = await startHost({
        ...probed!,
        spares: 1,
        door: { open: () => Promise.reject(new Error('no door')) },
      })
      await closed.deploy('small', WHO)
      expect((await fetch(closed.url('small'))).status).toBe(503)
      await expect.poll(() => closed.factory.spares.pids.length, { timeout: 30_000 }).toBe(1)
      const [spare] = closed.factory.spares.pids
      const { version } = closed.functions.get('test', 'small')!
      await expect(closed.factory.start(version, false)).rejects.toThrow('no door')
      expect(isAlive(spare!)).toBe(false)
      const folders = () => readdirSync(closed.factory.base).length
      await expect.poll(() => folders() - 2 * closed.factory.spares.pids.length).toBe(0)
    })

    test('that have ended are removed and not given to a version', async () => {
      const spare = await waiting()
      const count = readdirSync(host.factory.base).length
      process.kill(spare, 'SIGKILL')
      await expect.poll(() => isAlive(spare)).toBe(false)
      await expect.poll(() => host.factory.spares.pids).toEqual([])
      await expect.poll(() => readdirSync(host.factory.base).length).toBe(count - 2)
      await host.deploy('small', WHO)
      await call('small')
      expect(pids('small')).not.toContain(spare)
    })

    test('end with the host', async () => {
      const spare = await waiting()
      await host.factory[Symbol.asyncDispose]()
      await expect.poll(() => isAlive(spare)).toBe(false)
      expect(host.left).toEqual([])
    })
  })
