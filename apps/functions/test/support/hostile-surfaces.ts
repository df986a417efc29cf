// Hostile functions against files in memory, the database, sockets, servers of functions, imports.
import { migrate } from '@terrane/database'
import { openTestDatabase, testLane, type TestDatabase } from '@terrane/database/testing'
import { afterAll, describe, expect, test } from 'vitest'
import { BOUND_MS, LIMITS, SHORT_TIMEOUT, gainsOf, openArena } from './hostile-arena.ts'
import { PACKAGES } from './host.ts'
import { outcome } from './http.ts'
import { tryRuntime } from './runtimes.ts'

const SESSIONS = 8
/** The caller's connection ended before the head of an answer. */
const CUT = { status: 200, code: null, body: '', whole: false }
/** Growth of the host that a case may cause, in MiB: buffers, and garbage of other tests. */
const HOST_MIB = 128

/** Words of the database's protocol, without a client that would keep to it. */
const WORDS = `
  const bytes = (text) => new TextEncoder().encode(text)
  const dial = () => Deno.connect({ hostname: 'project.internal', port: 5432 })
  const numbers = (...all) => { const view = new DataView(new ArrayBuffer(4 * all.length)); all.forEach((n, i) => view.setInt32(4 * i, n)); return new Uint8Array(view.buffer) }
  const joined = (...parts) => Uint8Array.from(parts.flatMap((part) => [...part]))
  const start = (user) => { const words = bytes('user\\0' + user + '\\0database\\0postgres\\0\\0'); return joined(numbers(8 + words.length, 196608), words) }
  const query = (text) => joined(bytes('Q'), numbers(5 + text.length), bytes(text + '\\0'))
  const within = (work, ms = 2000) => Promise.race([work, new Promise((done) => setTimeout(done, ms, 'silence'))])
  const heard = async (connection) => { const room = new Uint8Array(65536); const n = await within(connection.read(room).catch(() => null)); return n === null || n === 'silence' ? n : new TextDecoder('latin1').decode(room.subarray(0, n)) }
  const user = () => new URL(ctx.databaseUrl).username
  const signedIn = async (name = user()) => { const c = await dial(); await c.write(start(name)); return [c, await heard(c)] }
`

const hostMib = () => process.memoryUsage.rss() / 1024 / 1024

/** Declares the cases for one profile of Deno. */
export async function hostileSurfaces(profile: 'standard' | 'hardened'): Promise<void> {
  const { probed, title } = await tryRuntime('deno', profile)
  const onServer = testLane() === 'postgres'
  describe.skipIf(!probed)(`hostile functions, later surfaces (${testLane()}): ${title}`, { timeout: 120_000 }, () => {
    let database: TestDatabase
    const arena = openArena(probed!, profile === 'hardened', {
      sessions: SESSIONS,
      databaseUrl: async () => {
        database = await openTestDatabase()
        await migrate(database.database, ['project'])
        return database.url
      },
    })
    afterAll(() => database[Symbol.asyncDispose]())
    const { attack, probe, callOk, warmUp, pidOf, expectKept, watchPeak, diskUse } = arena

    /** After the attack the function answers again, from the same process or a new one. */
    const expectServed = () => expect.poll(callOk, { timeout: BOUND_MS }).toBe('200 ok')

    test.each([
      ['names without end', `for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + i, '')`],
      ['folders in folders', `for (let p = '/tmp'; ; p += '/d') fs.mkdirSync(p + '/d')`],
      ['names of a megabyte', `for (let i = 0; ; i++) fs.writeFileSync('/tmp/' + 'n'.repeat(1e6) + i, '')`],
      [
        'links without end',
        `fs.writeFileSync('/tmp/a', 'a'); for (let i = 0; ; i++) fs.linkSync('/tmp/a', '/tmp/l' + i)`,
      ],
      ['holes', `const fd = fs.openSync('/tmp/holes', 'w'); for (let i = 1; ; i++) fs.writeSync(fd, 'x', 2 ** 31 * i)`],
      [
        'files by Deno',
        `const mb = new Uint8Array(1e6).fill(1); for (let i = 0; ; i++) Deno.writeFileSync('/tmp/' + i, mb)`,
      ],
      ['a link to itself', `fs.symlinkSync('/tmp/loop', '/tmp/loop'); fs.readFileSync('/tmp/loop'); throw 0`],
    ])('tmp: %s end at a limit of the function', async (_, body) => {
      const peak = watchPeak()
      const before = diskUse()
      const { status } = await attack(`const fs = await import('node:fs'); ${body}`)
      // An error that it could have caught, V8's own end, or the watchdog of memory or time.
      expect([500, 502, 504, 546]).toContain(status)
      await expectServed()
      expect(peak()).toBeLessThan(LIMITS.memory_mb * 1.25 + 48)
      expect(diskUse() - before).toBeLessThan(40_000_000)
    })

    test('database: words that are no start of a session are refused or cut off', async () => {
      const told = await probe({
        http: `${WORDS} const c = await dial(); await c.write(bytes('GET / HTTP/1.1\\r\\n\\r\\n')); const said = await heard(c); if (said === null) throw 0; return said`,
        'a length without end': `${WORDS} const c = await dial(); await c.write(numbers(2 ** 31 - 1, 196608)); const said = await heard(c); if (said === null) throw 0; return said`,
        'a negative length': `${WORDS} const c = await dial(); await c.write(numbers(-1, 196608)); const said = await heard(c); if (said === null) throw 0; return said`,
        'an old protocol': `${WORDS} const c = await dial(); await c.write(numbers(8, 131072)); const said = await heard(c); if (said === null) throw 0; return said`,
        superuser: `${WORDS} const [, said] = await signedIn('postgres'); if (/^E.*28000/s.test(said)) throw 0; return said`,
        'a call of another': `${WORDS} const [, said] = await signedIn('call-' + (Number(user().slice(5)) + 1)); if (/^E.*28000/s.test(said)) throw 0; return said`,
        replication: `${WORDS} const c = await dial(); const words = bytes('user\\0' + user() + '\\0replication\\0database\\0\\0'); await c.write(joined(numbers(8 + words.length, 196608), words)); await heard(c); await c.write(query('IDENTIFY_SYSTEM')); const said = await heard(c); if (said === null || /^E/.test(said)) throw 0; return said`,
      })
      expect(gainsOf(told)).toEqual([])
    })

    test('database: half a start on each connection holds no session', async () => {
      const { status, before } = await attack(
        `${WORDS} const open = []; for (let i = 0; i < 200; i++) try { const c = await dial(); await c.write(numbers(100)); open.push(c) } catch {} return new Response(String(open.length))`,
      )
      expect([200, 500]).toContain(status)
      await expectKept(before)
    })

    const ask = async () => (await fetch(arena.host.url('asker'))).text()

    describe.skipIf(!onServer)('on a server', () => {
      const ASKER = `import pg from 'pg'
        export default async (req, ctx) => { const c = new pg.Client(ctx.databaseUrl); await c.connect(); const { rows } = await c.query('select current_user as me, pg_sleep(0.2)'); await c.end(); return new Response(rows[0].me) }`

      test('database: one function that takes all sessions leaves some for the others, and all when its call is over', async () => {
        await arena.host.deploy('asker', ASKER, { packages: PACKAGES, policy: LIMITS })
        const hog = attack(
          `${WORDS} if (!req.url.endsWith('/ok')) { const all = []; for (let i = 0; i < 20; i++) all.push(signedIn()); globalThis.kept = all; const first = await Promise.all(all.slice(0, 6)); await new Promise((done) => setTimeout(done, 3000)); return new Response(String(first.length)) }`,
        )
        await expect.poll(() => sessionsOf(database), { timeout: BOUND_MS }).toBeGreaterThanOrEqual(6)
        expect(await ask()).toBe('anon')
        expect(await hog).toMatchObject({ status: 200, body: '6' })
        // Its connections are still open and silent.
        await expect
          .poll(async () => (await Promise.all(Array.from({ length: 6 }, ask))).join(), { timeout: BOUND_MS })
          .toBe(Array(6).fill('anon').join())
      })

      test('database: guessed keys cancel no statement', async () => {
        await arena.host.deploy('asker', ASKER, { packages: PACKAGES, policy: LIMITS })
        const answers = Promise.all(Array.from({ length: 5 }, ask))
        const { status } = await attack(
          `${WORDS} const [c] = await signedIn(); await c.write(query('select pid from pg_stat_activity')); const said = await heard(c); const pids = [...said.matchAll(/[0-9]{2,7}/g)].map((m) => Number(m[0]))
           for (const pid of pids) for (const key of [0, 1, -1, pid]) { const d = await dial(); await d.write(numbers(16, 80877102, pid, key)); d.close() }
           await c.write(query("select pg_cancel_backend(pid), pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() and usename <> session_user")); await heard(c); return new Response(String(pids.length))`,
        )
        expect(status).toBe(200)
        expect(await answers).toEqual(Array(5).fill('anon'))
      })

      test('database: an answer of gigabytes that is not read waits in the server, not in the host', async () => {
        const before = hostMib()
        let peak = before
        const timer = setInterval(() => (peak = Math.max(peak, hostMib())), 20)
        const { status } = await attack(
          `${WORDS} const [c] = await signedIn(); await c.write(query("select repeat('x', 1000000) from generate_series(1, 4000)")); await new Promise((done) => setTimeout(done, 2000)); return new Response('left')`,
        )
        clearInterval(timer)
        expect(status).toBe(200)
        expect(peak - before).toBeLessThan(HOST_MIB)
        await expectServed()
        // The statement ends with the call.
        await expect
          .poll(() => sessionsOf(database, `query like 'select repeat%' and state = 'active'`), { timeout: BOUND_MS })
          .toBe(0)
      })
    })

    /** A server of the function, which answers /ok and runs the code of the body on other paths. */
    async function serve(body: string) {
      await arena.host.deploy(
        arena.attacker,
        `import http from 'node:http'
         const server = http.createServer(async (req, res) => { if (req.url.endsWith('/ok')) return res.end('ok'); ${body} })
         server.listen(8000)`,
        { policy: { ...LIMITS, ...SHORT_TIMEOUT, response_bytes: 1_000_000 } },
      )
      await warmUp()
      const before = pidOf(arena.attacker)
      const answers = await Promise.all(
        Array.from({ length: 3 }, () => fetch(arena.host.url(arena.attacker)).then(outcome, () => CUT)),
      )
      return { before, answers }
    }

    test.each([
      ['words that are no HTTP', `res.socket.write('no HTTP at all\\r\\n\\r\\n')`],
      [
        'two answers to one request',
        `res.socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\n\\r\\noneHTTP/1.1 200 OK\\r\\ncontent-length: 6\\r\\n\\r\\nforged')`,
      ],
      [
        'a length that is too long',
        `res.writeHead(200, { 'content-length': '100' }); res.socket.write('short'); res.socket.destroy()`,
      ],
      [
        'two lengths',
        `res.socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\ncontent-length: 20\\r\\n\\r\\nxx')`,
      ],
      [
        'a length and chunks',
        `res.socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: 2\\r\\ntransfer-encoding: chunked\\r\\n\\r\\n5\\r\\nabcde\\r\\n0\\r\\n\\r\\n')`,
      ],
      [
        'a chunk without end',
        `res.socket.write('HTTP/1.1 200 OK\\r\\ntransfer-encoding: chunked\\r\\n\\r\\nffffffffffffffff\\r\\n')`,
      ],
      [
        'a head without end',
        `res.socket.write('HTTP/1.1 200 OK\\r\\n'); for (let i = 0; i < 20_000; i++) res.socket.write('x-' + i + ': ' + 'y'.repeat(100) + '\\r\\n')`,
      ],
      [
        'interim answers without end',
        `for (let i = 0; i < 20_000; i++) res.socket.write('HTTP/1.1 103 Early Hints\\r\\nlink: </a>\\r\\n\\r\\n')`,
      ],
      [
        'a switch of protocols',
        `res.socket.write('HTTP/1.1 101 Switching Protocols\\r\\nupgrade: websocket\\r\\nconnection: upgrade\\r\\n\\r\\n')`,
      ],
      ['its own socket closed', `res.socket.destroy()`],
      ['its server closed', `server.close(); res.socket.destroy()`],
      [
        'an answer of gigabytes',
        `const mb = Buffer.alloc(1e6); const more = () => { while (res.write(mb)); res.once('drain', more) }; more()`,
      ],
      ['nothing', ``],
    ])('servers: %s reach the caller as an error, a cut or an end', async (_, body) => {
      const rss = hostMib()
      const { answers } = await serve(body)
      for (const { status, whole, body: text } of answers) {
        expect(status === 200 ? !whole || text.length <= 5 : status >= 500, `${status} ${text.slice(0, 100)}`).toBe(
          true,
        )
        expect(text).not.toContain('forged')
      }
      expect(hostMib() - rss).toBeLessThan(HOST_MIB)
      await expectServed()
    })

    test('imports: code of the host, of neighbours and of the network is not imported while a function runs', async () => {
      const neighbour = arena.host.functions.get('test', 'neighbour')!.version.codeDir
      const { port } = arena.web.address() as { port: number }
      const told = await probe({
        'a file of the host': `const at = 'file:///etc/passwd'; return import(at)`,
        "a neighbour's module": `const at = 'file://${neighbour}/index.mjs'; return import(at)`,
        'by require': `const { createRequire } = await import('node:module'); return createRequire('file:///etc/')('./passwd')`,
        'by require of a neighbour': `const { createRequire } = await import('node:module'); return createRequire('file://${neighbour}/')('./index.mjs')`,
        'by data that imports': `return import('data:text/javascript,' + encodeURIComponent("export * from 'file://${neighbour}/index.mjs'"))`,
        'by a blob that imports': `return import(URL.createObjectURL(new Blob(["export * from 'http://127.0.0.1:${port}/x.js'"], { type: 'text/javascript' })))`,
        'a module of loopback': `const at = 'http://127.0.0.1:${port}/x.js'; return import(at)`,
        'a module of JSR': `const at = 'jsr:@std/path'; return import(at)`,
        'a package': `const at = 'npm:left-pad@1.3.0'; return import(at)`,
        'text by import': `const at = 'file:///etc/hostname'; return import(at, { with: { type: 'text' } })`,
        'bytes by import': `const at = 'file:///etc/hostname'; return import(at, { with: { type: 'bytes' } })`,
        'WebAssembly of the host': `return WebAssembly.compileStreaming(await fetch('file:///etc/passwd'))`,
        'a hook of the loader': `const { register } = await import('node:module'); register('data:text/javascript,export const resolve = () => ({ url: "file://${neighbour}/index.mjs", shortCircuit: true })'); const at = 'anything'; return import(at)`,
      })
      expect(gainsOf(told)).toEqual([])
    })

    test('sockets: connections that say nothing, drip or stay open end with the function, and hold up no other', async () => {
      const { status } = await attack(
        `const open = []
         for (let i = 0; i < 200; i++) try { open.push(await Deno.connect({ transport: 'unix', path: req.headers.get('x-gateway').replace('gw.sock', 'tcp.sock') })) } catch {}
         for (const c of open) c.write(new TextEncoder().encode('project.inter')).catch(() => {})
         return new Response(String(open.length))`,
        {},
        { net: ['redirector.test:1'] },
      )
      expect([200, 500]).toContain(status)
      await expectServed()
    })
  })
}

/** Sessions of functions that the server has now. */
async function sessionsOf({ database }: TestDatabase, condition = 'true'): Promise<number> {
  const { rows } = await database.query<{ n: number }>(
    `select count(*)::int as n from pg_stat_activity where datname = current_database() and application_name = 'terrane function' and ${condition}`,
  )
  return rows[0]!.n
}
