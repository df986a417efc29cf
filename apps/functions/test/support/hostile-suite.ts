// Thirty hostile functions and callers. Each case checks five things: what the caller gets, in what time, whether the
// host is still up, whether the neighbour noticed anything, and whether the instance is kept or replaced.
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:http'
import { createSocket } from 'node:dgram'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { BOUND_MS, LIMITS, SHORT_BLOCK, SHORT_TIMEOUT, expectDenied, openArena } from './hostile-arena.ts'
import { startHost } from './host.ts'
import { outcome, rawExchange } from './http.ts'
import { tryRuntime } from './runtimes.ts'

/** A file that no function may make. */
const SNAPSHOT = join(tmpdir(), `terrane-snapshot-${process.pid}`)
/** Ways to block the event loop: the source of each. */
const BLOCKING: Readonly<Record<string, string>> = {
  '1 an endless loop': `while (true);`,
  '3 microtasks without end': `const f = () => queueMicrotask(f); f(); await new Promise(() => {})`,
  '4 a regular expression that backtracks': `/^(a+)+$/.test('a'.repeat(60) + '!')`,
  '5 Atomics.wait': `Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)`,
}
/** The everyday run has the two that differ most, because each takes a second of CPU. */
const EVERYDAY = ['1 an endless loop', '5 Atomics.wait']

function blockingCases({ attack, expectReplaced }: ReturnType<typeof openArena>, names: readonly string[]): void {
  test.each(names)('%s is ended by the watchdog', async (name) => {
    const { status, code, before } = await attack(BLOCKING[name]!, {}, SHORT_BLOCK)
    expect([status, code]).toEqual([546, 'FUNCTION_RESOURCE_LIMIT'])
    await expectReplaced(before, 'blocked')
  })
}

/** Declares the cases of the standard profile that the everyday run leaves out. */
export async function hostileRest(): Promise<void> {
  const { probed, title } = await tryRuntime('deno', 'standard')
  describe.skipIf(!probed)(`hostile functions that block: ${title}`, { timeout: 120_000 }, () => {
    const rest = Object.keys(BLOCKING).filter((name) => !EVERYDAY.includes(name))
    blockingCases(openArena(probed!, false), rest)
  })
}

/** Declares the cases for one profile of Deno. */
export async function hostileSuite(profile: 'standard' | 'hardened'): Promise<void> {
  const { probed, title } = await tryRuntime('deno', profile)
  const hardened = profile === 'hardened'
  describe.skipIf(!probed)(`hostile functions: ${title}`, { timeout: 120_000 }, () => {
    const arena = openArena(probed!, hardened)
    const {
      attack,
      probe,
      callOk,
      warmUp,
      pidOf,
      gatewayOf,
      expectKept,
      expectKeptOrReplaced,
      expectReplaced,
      watchPeak,
      diskUse,
    } = arena

    blockingCases(arena, hardened ? Object.keys(BLOCKING) : EVERYDAY)

    test('2 a loop at the top level never becomes ready', async () => {
      // The everyday run has a host for it with a limit that other functions would exceed on a busy machine.
      await using own = hardened ? null : await startHost({ ...probed!, bootMs: 1000 })
      const host = own ?? arena.host
      await host.deploy(arena.attacker, `while (true);`, { policy: LIMITS })
      const begun = performance.now()
      const response = await fetch(host.url(arena.attacker))
      expect(await outcome(response)).toMatchObject({ status: 503, code: 'FUNCTION_BOOT_ERROR' })
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(performance.now() - begun).toBeLessThan(BOUND_MS)
    })

    test('6 a loop that begins after the answer', async () => {
      const { status, before } = await attack(
        `setTimeout(() => { while (true); }, 5); return new Response('')`,
        {},
        SHORT_BLOCK,
      )
      expect(status).toBe(200)
      await expectReplaced(before, 'blocked')
    })

    test('7 a heap bomb', async () => {
      const { status, code, before } = await attack(
        `const a = []; while (true) a.push(new Array(1e5).fill({}))`,
        {},
        { block_ms: 10_000 },
      )
      expect([status, code]).toEqual([546, 'FUNCTION_RESOURCE_LIMIT'])
      await expectReplaced(before, 'memory')
    })

    test.each([
      ['8 an ArrayBuffer bomb', `const a = []; for (;;) { a.push(new Uint8Array(4e6).fill(1)); await 0 }`],
      [
        '9 a WebAssembly memory bomb',
        `const a = []; for (;;) { a.push(new Uint8Array(new WebAssembly.Memory({ initial: 100 }).buffer).fill(1)); await 0 }`,
      ],
    ])('%s meets the memory limit', async (_, source) => {
      const peak = watchPeak()
      const { status, before } = await attack(source, {}, { block_ms: 10_000 })
      expect([500, 546]).toContain(status)
      // An attack that caught its own error may leave more memory than the watchdog allows at its next check.
      await expect.poll(callOk, { timeout: BOUND_MS }).toBe('200 ok')
      if (status === 500) await expectKeptOrReplaced(before, 'memory')
      else await expectReplaced(before, 'memory')
      expect(peak()).toBeLessThan(LIMITS.memory_mb * 1.25 + 48)
    })

    test('10 a promise that never settles', async () => {
      const { status, code, before } = await attack(`await new Promise(() => {})`, {}, { timeout_ms: 1000 })
      expect([status, code]).toEqual([504, 'FUNCTION_TIMEOUT'])
      await expectKept(before)
    })

    test('11 an endless answer is cut at its size', async () => {
      const endless = `return new Response(new ReadableStream({ pull(c) { c.enqueue(new Uint8Array(65536)) } }))`
      const { status, body, whole, before } = await attack(endless, {}, { response_bytes: 1_000_000 })
      expect([status, whole]).toEqual([200, false])
      expect(body.length).toBeLessThanOrEqual(1_000_000)
      await expectKept(before)
    })

    test('an answer that announces more than it may is refused', async () => {
      const { status, code, before } = await attack(
        `return new Response('x'.repeat(2000))`,
        {},
        { response_bytes: 1000 },
      )
      expect([status, code]).toEqual([502, 'FUNCTION_INVALID_RESPONSE'])
      await expectKept(before)
    })

    test('12 an answer that drips is cut in time', async () => {
      const drip = `return new Response(new ReadableStream({ async pull(c) { await new Promise((r) => setTimeout(r, 50)); c.enqueue(new Uint8Array(1)) } }))`
      const { status, whole, before } = await attack(drip, {}, SHORT_TIMEOUT)
      expect([status, whole]).toEqual([200, false])
      await expectKept(before)
    })

    test('13 an answer that breaks off is seen to break off', async () => {
      const { status, whole, before } = await attack(
        `return new Response(new ReadableStream({ start(c) { c.enqueue(new Uint8Array(9)); setTimeout(() => c.error(new Error('x')), 50) } }))`,
      )
      expect([status, whole]).toEqual([200, false])
      await expectKept(before)
    })

    test.each([
      [
        'oversized headers',
        `return new Response('', { headers: { big: 'x'.repeat(100_000) } })`,
        502,
        'FUNCTION_INVALID_RESPONSE',
      ],
      [
        'a header with a line break',
        `return new Response('', { headers: { a: 'b\\r\\nc: d' } })`,
        500,
        'FUNCTION_ERROR',
      ],
    ])('14 %s', async (_, source, status, code) => {
      const result = await attack(source)
      expect([result.status, result.code]).toEqual([status, code])
      expect(result.body).not.toMatch(/\n\s+at |index\.mjs/)
      await expectKept(result.before)
    })

    test('14 hop-by-hop and host headers of an answer do not pass', async () => {
      const source = `return new Response('x', { headers: { connection: 'upgrade', upgrade: 'x', 'keep-alive': 'timeout=999', 'x-error-code': 'FAKE', 'x-request-id': 'fake', 'x-function-version': '999', 'x-terrane-secret': '1', 'proxy-authenticate': 'Basic' } })`
      await attack(source)
      const { headers } = await fetch(arena.host.url(arena.attacker))
      for (const name of ['upgrade', 'x-error-code', 'x-terrane-secret', 'proxy-authenticate'])
        expect(headers.get(name)).toBeNull()
      expect(headers.get('x-request-id')).not.toBe('fake')
      expect(headers.get('x-function-version')).not.toBe('999')
      expect(headers.get('keep-alive')).not.toBe('timeout=999')
    })

    test('15 anything but a response in its place', async () => {
      const { status, code, before } = await attack(
        `switch (req.headers.get('x-answer')) {
           case 'a look-alike': return { status: 200, headers: new Headers(), body: null }
           case 'a status out of range': return new Response('', { status: 99 })
           case 'an error response': return Response.error()
           case 'nothing': return undefined
           default: return 'text'
         }`,
      )
      expect([status, code]).toEqual([502, 'FUNCTION_INVALID_RESPONSE'])
      for (const answer of ['a look-alike', 'a status out of range', 'an error response', 'nothing']) {
        const met = await outcome(await fetch(arena.host.url(arena.attacker), { headers: { 'x-answer': answer } }))
        expect([answer, met.status, met.code]).toEqual([answer, 502, 'FUNCTION_INVALID_RESPONSE'])
      }
      await expectKept(before)
    })

    test.each([
      ['a late throw', `setTimeout(() => { throw new Error('late') }, 20); return new Response('')`],
      ['a late rejection', `setTimeout(() => Promise.reject(new Error('late')), 20); return new Response('')`],
      [
        'a thrown object without a prototype',
        `setTimeout(() => { throw Object.create(null) }, 20); return new Response('')`,
      ],
    ])('16 %s', async (_, source) => {
      const { status, before } = await attack(source)
      expect(status).toBe(200)
      await sleep(100)
      await expectKept(before)
      await expect.poll(() => arena.host.lines.some((line) => line.text.startsWith('Uncaught'))).toBe(true)
    })

    test.each([
      ['Deno.exit', `Deno.exit(0)`],
      ['process.exit', `process.exit(3)`],
      ['process.abort', `(await import('node:process')).abort()`],
      ['a stack without end', `const f = () => [f()]; try { f() } catch {} Deno.exit(1)`],
    ])('17 %s', async (_, source) => {
      const { status, code, before } = await attack(source)
      expect([status, code]).toEqual([502, 'FUNCTION_CRASHED'])
      await expectReplaced(before, 'crashed')
    })

    test('18 polluted prototypes stay with the polluter', async () => {
      const { before } = await attack(
        `for (const p of [Object, Array, Promise, Response, Headers, Map, String].map((c) => c.prototype)) for (const k of ['then', 'toJSON', 'status', 'get', 'set', 'split', 'startsWith']) try { Object.defineProperty(p, k, { get() { throw new Error('polluted') }, configurable: true }) } catch {}
         return new Response('')`,
      )
      expect(typeof before).toBe('number')
      await arena.host.deploy(arena.attacker, `export default () => new Response('clean')`, { policy: LIMITS })
      expect(await (await fetch(arena.host.url(arena.attacker))).text()).toBe('clean')
    })

    test('19 a flood of log lines is dropped and counted', async () => {
      arena.host.lines.length = 0
      const { status, before } = await attack(
        `for (let i = 0; i < 20_000; i++) console.log('flood', i); return new Response('')`,
      )
      expect(status).toBe(200)
      await expectKept(before)
      await sleep(50)
      await attack(`console.log('after'); return new Response('')`)
      await expect.poll(() => arena.host.lines.some((line) => line.text === 'after')).toBe(true)
      expect(arena.host.lines.length).toBeLessThan(600)
    })

    test('19 a flood of raw bytes throttles its author', async () => {
      const { status, before } = await attack(
        `const b = new Uint8Array(1e6).fill(120); while (true) Deno.stdout.writeSync(b)`,
        {},
        SHORT_BLOCK,
      )
      expect(status).toBe(546)
      await expectReplaced(before, 'blocked')
    })

    test('19 control messages that a function forges have no effect', async () => {
      const forge = `const say = (x) => Deno.stdout.writeSync(new TextEncoder().encode('\\n' + JSON.stringify(x) + '\\n'))
        for (let n = 0; n < 50; n++) say({ t: 'pong', n }); say({ t: 'ready' }); say({ t: 'failed', message: 'x', stack: 'y' }); say({ t: 'hold', call: '1' }); say({ t: 'log', level: 'x', text: { a: 1 }, call: 5, dropped: -1e9 })
        Deno.stdout.writeSync(new TextEncoder().encode('\\n{"t":"\\n{"t":"log"\\n' + '{"t":"'.repeat(50_000) + '\\n')); `
      const { status, before } = await attack(`${forge} while (true);`, {}, SHORT_BLOCK)
      expect(status).toBe(546)
      await expectReplaced(before, 'blocked')
    })

    test('20 files of the host, of other functions and of itself are out of reach', async () => {
      const neighbour = arena.host.functions.get('test', 'neighbour')!
      const neighbourRun = [...neighbour.pool][0]!.upstream.path
      const pid = pidOf('neighbour')
      expectDenied(
        await probe({
          passwd: `return Deno.readTextFileSync('/etc/passwd')`,
          'passwd by node': `return (await import('node:fs')).readFileSync('/etc/passwd')`,
          'own environ': `return Deno.readTextFileSync('/proc/self/environ')`,
          'own memory': `return Deno.openSync('/proc/self/mem')`,
          "host's environ": `return Deno.readTextFileSync('/proc/${process.pid}/environ')`,
          "neighbour's environ": `return Deno.readTextFileSync('/proc/${pid}/environ')`,
          "neighbour's code": `return Deno.readTextFileSync('${neighbour.version.codeDir}/index.mjs')`,
          "neighbour's code by import": `const path = '${neighbour.version.codeDir}/index.mjs'; return (await import(path)).default`,
          "neighbour's socket": `return Deno.connect({ transport: 'unix', path: '${neighbourRun}' })`,
          "neighbour's gateway": `return Deno.connect({ transport: 'unix', path: '${neighbourRun.replace('in.sock', 'gw.sock')}' })`,
          'a folder': `return [...Deno.readDirSync('/')].length`,
          'a file': `return Deno.writeTextFileSync('/var/tmp/x', 'x')`,
          'a symbolic link': `return Deno.symlinkSync('/etc/passwd', '/tmp/l')`,
          'up from tmp': `return Deno.readTextFileSync('/tmp/../etc/passwd')`,
          'up from tmp by node': `return (await import('node:fs')).readFileSync('/tmp/a/../../etc/passwd')`,
          'up from tmp by URL': `return Deno.readTextFileSync(new URL('file:///tmp/%2e%2e/etc/passwd'))`,
          'a link in tmp': `const fs = await import('node:fs'); fs.symlinkSync('/etc', '/tmp/etc'); return fs.readFileSync('/tmp/etc/passwd')`,
          'a link in tmp by Deno': `return Deno.readTextFileSync('/tmp/etc/passwd')`,
          'what others have in tmp': `return Deno.readTextFileSync('${neighbourRun}')`,
          "the host's tmp": `const names = [...Deno.readDirSync('/tmp')].map((entry) => entry.name).filter((name) => name !== 'etc'); if (names.length === 0) throw new Error('none'); return names`,
          'out of tmp': `Deno.writeTextFileSync('/tmp/x', 'x'); Deno.removeSync('/tmp/x.mjs', { recursive: true })`,
          'a copy out of tmp': `Deno.writeTextFileSync('/tmp/y', 'y'); return Deno.copyFileSync('/tmp/y', '/var/tmp/y')`,
          'a move out of tmp': `Deno.writeTextFileSync('/tmp/y', 'y'); return (await import('node:fs')).renameSync('/tmp/y', '/var/tmp/y')`,
          'a raw open in tmp': `return (await import('node:fs')).openSync('/tmp/../tmp/../etc/hostname')`,
          'a socket in tmp': `return Deno.listen({ transport: 'unix', path: '/tmp/s' })`,
          'a hard link': `return Deno.linkSync('/etc/passwd', '/tmp/l')`,
          'its code': `return Deno.writeTextFileSync(new URL(import.meta.url), 'x')`,
          "its ingress socket's removal": `const { main } = import.meta; return Deno.removeSync('${neighbourRun}')`,
          'a mode': `return Deno.chmodSync('/etc/passwd', 0o777)`,
          'a database file': `const { DatabaseSync } = await import('node:sqlite'); return new DatabaseSync('/tmp/x.db')`,
          'an attached database': `const { DatabaseSync } = await import('node:sqlite'); return new DatabaseSync(':memory:').exec("attach '/tmp/x.db' as x; create table x.t(a)")`,
          'a database copy': `const { DatabaseSync } = await import('node:sqlite'); return new DatabaseSync(':memory:').exec("create table t(a); vacuum into '/tmp/x.db'")`,
          'an import by URL': `const url = 'http://127.0.0.1:1/x.js'; return import(url)`,
          'an import of JSON': `const path = '/etc/hostname'; return import(path, { with: { type: 'json' } })`,
          'an npm package': `const name = 'npm:left-pad'; return import(name)`,
          'the disk by fetch': `return (await fetch('file:///etc/passwd')).text()`,
        }),
      )
    })

    test("21 secrets of the host are not in the function's world", async () => {
      // oxlint-disable-next-line node/no-process-env -- The bait: what the host knows and the function must not.
      process.env['TERRANE_TEST_BAIT'] = 'bait-value-of-the-host'
      const { body, before } = await attack(
        `const seen = []
         for (const look of [() => Deno.env.toObject(), () => process.env, () => process.argv, () => process.execArgv, () => Deno.args, () => process.report.getReport(), () => Deno.readTextFileSync('/proc/self/environ'), () => Deno.readTextFileSync('/proc/1/environ')]) try { seen.push(JSON.stringify(look())) } catch {}
         return new Response(seen.join('\\n'))`,
      )
      expect(body).not.toContain('bait-value')
      expect(body).not.toContain('the-service-key')
      expect(body.split('\n')[0]).toBe('{}')
      await expectKept(before)
    })

    test('22 no process, no native code, no debugger, no signal', async () => {
      expectDenied(
        await probe({
          spawn: `return new Deno.Command('/bin/true').outputSync()`,
          'spawn by node': `return new Promise((yes, no) => import('node:child_process').then((c) => c.exec('true', (e) => (e ? no(e) : yes(1))), no))`,
          fork: `return new Promise((yes, no) => import('node:child_process').then((c) => { const p = c.fork('x'); p.on('error', no); p.on('exit', (code) => code ? no() : yes(1)) }, no))`,
          cluster: `const c = (await import('node:cluster')).default; const w = c.fork(); return new Promise((yes, no) => { w.on('online', yes); w.on('error', no) })`,
          ffi: `return Deno.dlopen('libc.so.6', {})`,
          'native add-on': `return process.dlopen({ exports: {} }, '/lib/x86_64-linux-gnu/libm.so.6')`,
          inspector: `return (await import('node:inspector')).open(0)`,
          'signal to the host': `return Deno.kill(${process.pid}, 'SIGTERM')`,
          'signal by node': `return process.kill(${process.pid}, 'SIGTERM')`,
          worker: `return new Worker('data:text/javascript,', { type: 'module' })`,
          'host name': `return Deno.hostname()`,
          interfaces: `return Deno.networkInterfaces()`,
          users: `return Deno.uid()`,
          memory: `return Deno.systemMemoryInfo()`,
          umask: `return Deno.umask(0)`,
          gpu: `if (!navigator.gpu) throw 0; return 1`,
          storage: `localStorage.setItem('a', 'b'); return 1`,
          "the runtime's caches, which are files": `const cache = await caches.open('x'); if (!(caches instanceof CacheStorage) && !(cache instanceof Cache)) throw 0; return 1`,
          "the runtime's caches, made": `return new CacheStorage().open('x')`,
        }),
      )
    })

    test('22 what is asked of the system is told of no machine', async () => {
      const told = await probe({
        release: `return (await import('node:os')).release()`,
        'host name': `return (await import('node:os')).hostname()`,
        user: `return (await import('node:os')).userInfo().username`,
        interfaces: `return Object.keys((await import('node:os')).networkInterfaces()).length`,
      })
      expect(told).toEqual({
        release: 'GOT 6.0.0',
        'host name': 'GOT function',
        user: 'GOT function',
        interfaces: 'GOT 0',
      })
    })

    test('22 a worker thread ends its process at the memory limit', async () => {
      const { status, code, before } = await attack(
        `const { Worker } = await import('node:worker_threads'); new Worker('for (;;);', { eval: true }); await new Promise(() => {})`,
      )
      expect([status, code]).toEqual([502, 'FUNCTION_CRASHED'])
      await expectReplaced(before, 'crashed')
    })

    test('23 no spelling of a private address leads anywhere', async () => {
      const { port } = arena.web.address() as AddressInfo
      const spellings = [
        '127.0.0.1',
        'localhost',
        '2130706433',
        '0x7f.1',
        '0.0.0.0',
        '127.1',
        '0177.0.0.1',
        '0x7f000001',
        '127.0.0.1.',
        '[::1]',
        '[::ffff:127.0.0.1]',
        '[::]',
        '169.254.169.254',
        '[fe80::1]',
        '[fd00:ec2::254]',
      ]
      const probes: Record<string, string> = {}
      for (const host_ of spellings) probes[host_] = `return (await fetch('http://${host_}:${port}/')).status`
      expectDenied(await probe(probes))
    })

    test('23 a listed host that is private, or turns private, or redirects there, leads nowhere', async () => {
      const { port } = arena.web.address() as AddressInfo
      const redirector = createServer((_, response) =>
        response.writeHead(302, { location: `http://127.0.0.1:${port}/` }).end(),
      )
      await new Promise<void>((done) => redirector.listen(0, '127.0.0.1', done))
      const { port: redirecting } = redirector.address() as AddressInfo
      const net = [
        `rebinding.test:${port}`,
        `private.test:${port}`,
        `127.0.0.1:${port}`,
        `redirector.test:${redirecting}`,
      ]
      const results = await probe(
        {
          'a name with a public and a private address': `return (await fetch('http://rebinding.test:${port}/')).status`,
          'a private name': `return (await fetch('http://private.test:${port}/')).status`,
          'a listed address': `return (await fetch('http://127.0.0.1:${port}/')).status`,
          'a redirect': `return (await fetch('http://redirector.test:${redirecting}/')).status`,
          'a redirect, taken by hand': `const r = await fetch('http://redirector.test:${redirecting}/', { redirect: 'manual' }); if (r.status !== 302) throw 0; return (await fetch(r.headers.get('location'))).status`,
        },
        { net },
      )
      redirector.close()
      expectDenied(results)
    })

    test('23 the host holds the line when the shim is bypassed', async () => {
      const { port } = arena.web.address() as AddressInfo
      const [instance] = arena.host.functions.get('test', 'neighbour')!.pool
      expect(instance).toBeDefined()
      const results = await probe({
        'raw words to the gateway': `
          const path = req.headers.get('x-gateway'); const c = await Deno.connect({ transport: 'unix', path })
          await c.write(new TextEncoder().encode('GET / HTTP/1.1\\r\\nhost: x\\r\\nx-terrane-target: http://127.0.0.1:${port}/\\r\\nconnection: close\\r\\n\\r\\n'))
          const b = new Uint8Array(500); const n = await c.read(b); const text = new TextDecoder().decode(b.subarray(0, n)); if (text.includes(' 403 ')) throw 0; return text`,
        'a call it does not have': `
          const r = await fetch('http://project.internal/functions/v1/neighbour', { headers: { 'x-terrane-call': '1', 'x-terrane-depth': '0' } }); if ((await r.text()) === 'fine') throw 0; return r.status`,
      })
      expectDenied(results)
    })

    test('24 no raw socket in any direction', async () => {
      const { port } = arena.tcp.address() as AddressInfo
      const udp = createSocket('udp4', () => arena.reached.push('udp'))
      await new Promise<void>((done) => udp.bind(0, '127.0.0.1', done))
      const { port: udpPort } = udp.address()
      const results = await probe({
        tcp: `return Deno.connect({ hostname: '127.0.0.1', port: ${port} })`,
        'tcp v6': `return Deno.connect({ hostname: '::1', port: ${port} })`,
        'tcp by node': `const net = await import('node:net'); return new Promise((yes, no) => net.connect(${port}, '127.0.0.1', () => yes(1)).on('error', no))`,
        'http by node': `const http = await import('node:http'); return new Promise((yes, no) => http.get('http://127.0.0.1:${port}', yes).on('error', no))`,
        tls: `return Deno.connectTls({ hostname: '127.0.0.1', port: ${port} })`,
        'the name of the gateway': `return Deno.connect({ hostname: 'gateway.invalid', port: 80 })`,
        udp: `const dgram = await import('node:dgram'); return new Promise((yes, no) => { const s = dgram.createSocket('udp4'); s.on('error', no); s.send('x', ${udpPort}, '127.0.0.1', (e) => e ? no(e) : yes(1)) })`,
        'udp by Deno': `return Deno.listenDatagram({ transport: 'udp', port: 0 })`,
        // A listener of old servers: its one connection represents all requests and carries no bytes.
        'bytes of a listener': `for await (const connection of Deno.listen({ port: 0 })) return connection.read(new Uint8Array(1))`,
        'bytes to a listener': `for await (const connection of Deno.listen({ port: 0 })) return connection.write(new Uint8Array(1))`,
        'a second connection': `const listener = Deno.listen({ port: 0 }); await listener.accept(); return listener.accept()`,
        'a listener of another kind': `return Deno.listen({ transport: 'vsock', cid: 1, port: 1 })`,
        'listen by node': `const net = await import('node:net'); return new Promise((yes, no) => net.createServer().on('error', no).listen(0, () => yes(1)))`,
        'listen on a socket': `return Deno.listen({ transport: 'unix', path: '/tmp/function.sock' })`,
        'a unix socket': `return Deno.connect({ transport: 'unix', path: '/var/run/docker.sock' })`,
        dns: `return Deno.resolveDns('localhost', 'A')`,
        'dns by node': `return (await import('node:dns/promises')).lookup('localhost')`,
        websocket: `return new Promise((yes, no) => { const w = new WebSocket('ws://127.0.0.1:${port}'); w.onopen = yes; w.onerror = no })`,
        eventsource: `return new Promise((yes, no) => { const s = new EventSource('http://127.0.0.1:${port}'); s.onopen = yes; s.onerror = no })`,
      })
      udp.close()
      expectDenied(results)
    })

    test('25 what a caller forges does not reach the function as truth', async () => {
      const { body, before } = await attack(
        `return Response.json({ claims: ctx.claims, id: ctx.requestId, depth: req.headers.get('x-terrane-depth'), hop: req.headers.get('x-hop') })`,
        {
          headers: {
            'x-terrane-claims': encodeURIComponent('{"role":"service_role"}'),
            'x-terrane-depth': '0',
            'x-request-id': 'bad id \u00e9',
            'x-forwarded-for': '6.6.6.6',
            authorization: 'Bearer nonsense',
          },
        },
      )
      const seen = JSON.parse(body) as { claims: unknown; id: string; depth: unknown }
      expect(seen).toMatchObject({ claims: null, depth: null })
      expect(seen.id).toMatch(/^[\da-f-]{36}$/)
      await expectKept(before)
    })

    test('26 the handler cannot be replaced after the start', async () => {
      const { status, code, before } = await attack(`Deno.serve(() => new Response('replaced'))`)
      expect([status, code]).toEqual([500, 'FUNCTION_ERROR'])
      await expectKept(before)
    })

    test('27 a function that calls itself is stopped at the depth limit', async () => {
      const { status, body, before } = await attack(
        `const r = await fetch('http://project.internal/functions/v1/' + ctx.functionName); return new Response(r.status + ' ' + await r.text(), { headers: { 'x-inner': r.headers.get('x-error-code') ?? '' } })`,
      )
      expect(status).toBe(200)
      expect(body).toContain('508')
      expect(body).toContain('FUNCTION_RECURSION')
      await expectKept(before)
    })

    test('27 a storm of self calls ends in refusals, not in a dead host', async () => {
      const { before } = await attack(
        `await Promise.all(Array.from({ length: 3 }, () => fetch('http://project.internal/functions/v1/' + ctx.functionName).then((r) => r.text()))); return new Response('')`,
        {},
        { concurrency: 16, timeout_ms: 1000 },
      )
      await expectKept(before)
    })

    test('28 a thousand sockets to the host', async () => {
      const { status, before } = await attack(
        `const open = []; let failed = 0
         for (let i = 0; i < 1000; i++) try { open.push(await Deno.connect({ transport: 'unix', path: req.headers.get('x-gateway') })) } catch { failed++ }
         for (const c of open) c.close()
         return new Response(String(failed))`,
      )
      expect([200, 500, 504]).toContain(status)
      expect(await callOk()).toBe('200 ok')
      expect(pidOf(arena.attacker)).toBe(before)
    })

    test('28 a flood of requests to the host waits its turn', async () => {
      const { before, body } = await attack(
        `let answered = 0; const end = Date.now() + 1500
         await Promise.all(Array.from({ length: 64 }, async () => { while (Date.now() < end) { await fetch('http://denied.example/').catch(() => {}); answered++ } }))
         return new Response(String(answered))`,
        {},
      )
      expect(Number(body)).toBeLessThan(3000)
      await expectKept(before)
    })

    test('28 a function that uses up its descriptors is reached again', async () => {
      await attack(
        `globalThis.open ??= []; try { for (;;) open.push(Deno.openSync(new URL('./a.txt', import.meta.url))) } catch {} return new Response(String(open.length))`,
        {},
        { static: ['a.txt'] },
      )
      // Further connections beyond the kept one need descriptors, and none are left.
      const calls = await Promise.all(Array.from({ length: 8 }, callOk))
      expect(calls.filter((call) => !/^(200|50[234]) /.test(call))).toEqual([])
      await expect.poll(callOk, { timeout: BOUND_MS }).toBe('200 ok')
    })

    test.each(['sealed', 'unsealed'])('29 a %s function cannot fill the disk', async (kind) => {
      await arena.host.deploy(
        arena.attacker,
        `const tries = {
           own: (req) => { const p = req.headers.get('x-gateway'); try { Deno.removeSync(p) } catch {} Deno.writeFileSync(p, new Uint8Array(3e7)) },
           caches: async () => (await caches.open('x')).put('http://a.b/', new Response(new Uint8Array(3e7))),
           storage: () => localStorage.setItem('a', 'x'.repeat(4e6)),
           temp: () => Deno.makeTempFileSync(),
           snapshot: async () => (await import('node:v8')).writeHeapSnapshot('${SNAPSHOT}'),
           sqlite: async () => { const { DatabaseSync } = await import('node:sqlite'); const d = new DatabaseSync(':memory:'); globalThis.d = d
             d.exec('pragma temp_store=1; pragma cache_size=1; create temp table b(x); with recursive c(i) as (select 1 union all select i+1 from c where i<60) insert into b select zeroblob(1000000) from c') },
         }
         export default async (req) => { if (req.url.endsWith('/ok')) return new Response('ok'); const out = []; for (const [k, f] of Object.entries(tries)) try { await f(req); out.push(k) } catch {} return Response.json(out) }`,
        { policy: LIMITS, sealed: kind === 'sealed' },
      )
      await warmUp()
      const before = diskUse()
      const headers = { 'x-gateway': gatewayOf(arena.attacker) }
      const { status } = await outcome(await fetch(arena.host.url(arena.attacker), { headers }))
      expect([200, 502, 546]).toContain(status)
      expect(diskUse() - before).toBeLessThan(kind === 'sealed' ? 200_000 : 40_000_000)
      expect(existsSync(SNAPSHOT)).toBe(false)
    })

    test('30 a request body that drips is given up', async () => {
      await attack(`return new Response(await req.text())`)
      const port = Number(new URL(arena.host.origin).port)
      const { text } = await rawExchange(
        port,
        (write) =>
          write(`POST /functions/v1/${arena.attacker} HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nslow`),
        BOUND_MS,
      )
      expect(text).toMatch(/^HTTP\/1\.1 408 /)
      expect(text).toContain('REQUEST_TIMEOUT')
    })
  })
}
