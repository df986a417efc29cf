// Hostile functions against platform services: state, caches, queues, bindings, chains of calls.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { DEPTH_HEADER } from '@terrane/contracts/events'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { Depths } from '../../src/gateway/depth.ts'
import { openArena } from './hostile-arena.ts'
import { tryRuntime } from './runtimes.ts'

/** A request that reached the project's API. */
interface Reached {
  readonly url: string
  readonly depth: number
  readonly body: {
    readonly store?: string
    readonly request?: { readonly operation?: string }
    readonly queue?: string
  }
}

/** Sends JSON, or text unchanged; returns the status. */
const SEND = `const send = async (url, body, init = {}) => (await fetch(url, { method: 'POST', body: typeof body === 'string' ? body : JSON.stringify(body), ...init })).status
  const state = (body, init) => send('http://state.internal/', body, init)
  const deep = (levels) => '['.repeat(levels) + ']'.repeat(levels)
  const forged = { 'x-terrane-depth': '1.1.' + 'x'.repeat(43), apikey: 'mine', authorization: 'Bearer mine', 'content-profile': 'public', prefer: 'tx=rollback' }`

/** Requests that must not get through, by the refusal of the host. */
const REFUSED: Readonly<Record<string, readonly [code: string, status: number]>> = {
  'a namespace that is not bound': [`state({ store: ['kv', 'of-another'], operation: 'list' })`, 403],
  'a namespace by a longer name': [`state({ store: ['kv', 'own', 'x'].reverse(), operation: 'list' })`, 403],
  'the store as text': [`state({ store: 'fn:neighbour:', operation: 'list' })`, 403],
  'a store of another kind': [`state({ store: ['secrets', ''], operation: 'list' })`, 403],
  'a store by the prototype': [`state({ store: ['__proto__', 'constructor'], operation: 'list' })`, 403],
  'lists in the store': [`state({ store: [['fn'], ['']], operation: 'list' })`, 403],
  'a name of a megabyte': [`state({ store: ['fn', 'n'.repeat(1e6)], operation: 'list' })`, 403],
  'removal of its state': [`state({ store: ['fn', ''], operation: 'remove' })`, 403],
  'renaming it to the name of another': [`state({ store: ['fn', ''], operation: 'rename', to: 'neighbour' })`, 403],
  'two operations': [`state('{"store":["fn",""],"operation":"get","operation":"remove"}')`, 403],
  'an operation by the prototype': [`state('{"store":["fn",""],"__proto__":{"operation":"get"}}')`, 403],
  'no JSON': [`state('{"store":["fn",""],')`, 403],
  'nesting without end': [`state('{"store":["fn",""],"operation":"get","keys":' + deep(200_000) + '}')`, 413],
  'values without end': [`state('{"store":["fn",""],"operation":"get","keys":[' + '1,'.repeat(200_000) + '1]}')`, 413],
  'a body of 3 MB': [`state({ store: ['fn', ''], operation: 'write', x: 'x'.repeat(3e6) })`, 413],
}

/** Requests that get through, as those of the function itself, with the depth of its chain and nothing that it forged. */
const OWN: Readonly<Record<string, string>> = {
  'the path of a neighbour': `state({ store: ['fn', '../neighbour:'], operation: 'list' })`,
  'the name of a neighbour': `state({ store: ['fn', 'fn:neighbour:'], operation: 'get' })`,
  'the caches of a neighbour': `state({ store: ['cache', 'cache:neighbour:'], operation: 'list' })`,
  'a request within the request': `state({ store: ['fn', ''], operation: 'get', request: { operation: 'remove' }, name: 'fn:neighbour:' })`,
  'forged headers': `state({ store: ['fn', ''], operation: 'get' }, { headers: forged })`,
  'another path of the state': `send('http://state.internal/rest/v1/rpc/../secrets?select=*', { store: ['fn', ''], operation: 'get' }, { headers: forged })`,
  'another port of the state': `send('http://state.internal:5432/', { store: ['fn', ''], operation: 'get' })`,
  'its bound namespace': `state({ store: ['kv', 'own'], operation: 'list' })`,
  'another path of the queues': `send('http://queue.internal/rest/v1/secrets?select=*', { queue: 'mail', body: 1 }, { headers: forged })`,
  'a forged depth of a message': `send('http://queue.internal/', { queue: 'mail', body: 1, depth: '0' }, { headers: forged })`,
  'a forged depth of a request': `send('http://project.internal/rest/v1/rows', {}, { headers: forged })`,
}

/** Declares the cases for one profile of Deno. */
export async function hostilePlatform(profile: 'standard' | 'hardened'): Promise<void> {
  const { probed, title } = await tryRuntime('deno', profile)
  describe.skipIf(!probed)(`hostile functions, state and queues: ${title}`, { timeout: 120_000 }, () => {
    const depths = new Depths('secret of the test')
    const reached: Reached[] = []
    let api: Server
    const record = async (request: IncomingMessage, response: ServerResponse) => {
      const body = (await json(request).catch(() => ({}))) as Reached['body']
      const { calls, steps } = depths.read('test', request.headers[DEPTH_HEADER])
      reached.push({ url: request.url!, depth: calls + steps, body })
      response.setHeader('content-type', 'application/json').end('{}')
    }
    const arena = openArena(probed!, profile === 'hardened', {
      projectApi: async () => {
        api = createServer((request, response) => void record(request, response))
        await new Promise<void>((done) => api.listen(0, '127.0.0.1', done))
        return `http://127.0.0.1:${(api.address() as AddressInfo).port}`
      },
    })
    afterAll(() => void api.close())
    beforeEach(() => {
      reached.length = 0
    })
    const run = (code: string) =>
      arena.attack(`${SEND}\n return new Response(String(await ${code}))`, {}, { bindings: ['kv:OWN=own'] })

    test.each(Object.entries(REFUSED))('state: %s is refused by the host', async (_, [code, status]) => {
      const { body, before } = await run(code)
      expect([body, reached]).toEqual([String(status), []])
      await arena.expectKept(before)
    })

    test.each(Object.entries(OWN))('%s is a request of the function for its own', async (_, code) => {
      const { status, before } = await run(code)
      expect([status, reached.length]).toEqual([200, 1])
      const { url, depth, body } = reached[0]!
      expect(url).toMatch(/^\/rest\/v1\/(?:rpc\/(?:state|send_message)|rows)$/)
      expect(depth).toBe(1)
      const { store = 'kv:own', request: { operation = 'get' } = {} } = body
      expect(store).toMatch(new RegExp(`^(?:(?:fn|cache):${arena.attacker}:|kv:own$)`))
      expect(['get', 'list', 'write']).toContain(operation)
      await arena.expectKept(before)
    })

    test('a thousand messages and commits at once hold up no other function', async () => {
      const { status, before } = await run(
        `Promise.all(Array.from({ length: 1000 }, (_, i) => i % 2 ? state({ store: ['fn', ''], operation: 'get' }) : send('http://queue.internal/', { queue: 'mail', body: i }))).then((all) => all.length)`,
      )
      // Connections beyond those of an instance are refused, and an instance that is busy with them for too long is ended.
      expect([200, 500, 504, 546]).toContain(status)
      expect(reached.every(({ depth }) => depth === 1)).toBe(true)
      await arena.expectKeptOrReplaced(before, 'blocked')
    })
  })
  describe.skipIf(!probed)(`hostile functions, long chains: ${title}`, { timeout: 120_000 }, () => {
    const arena = openArena(probed!, profile === 'hardened')

    test('a chain that doubles at each step, as its max_chain allows, holds up no other function', async () => {
      const { body } = await arena.attack(
        `console.log('step')
         for (const _ of [1, 2]) void fetch('http://project.internal/functions/v1/${arena.attacker}').catch(() => {})
         return new Response('begun')`,
        {},
        { max_chain: 100_000 },
      )
      expect(body).toBe('begun')
      const steps = () => arena.host.lines.filter(({ text }) => text === 'step').length
      await expect.poll(steps).toBeGreaterThan(100)
    })
  })
}
