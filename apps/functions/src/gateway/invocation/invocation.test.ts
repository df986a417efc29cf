import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { seededRandom } from '@terrane/core'
import { expect, test } from 'vitest'
import type { LiveFunction } from '../../functions.ts'
import { parsePolicy } from '../../policy.ts'
import type { Instance } from '../../pool/instance.ts'
import type { Waiter } from '../../pool/waiter.ts'
import type { Connection, Exchange } from '../../upstream/upstream.ts'
import { Admission } from '../admission.ts'
import { Depths } from '../depth.ts'
import { Heads } from '../heads.ts'
import { Incoming } from '../incoming.ts'
import type { Bodies, ReceivedBody } from './bodies.ts'
import { Invocation, type InvocationParts } from './invocation.ts'
import { leads } from './states.ts'

const LIMIT = 100
const SERVICE = { rank: 'service', claims: null, apikey: null, authorization: null, serviceHeaders: [] } as const

/** A simulated environment of an invocation. It lists the possible next events and counts what occurred. */
class World {
  readonly counts = { finished: 0, began: 0, ended: 0, released: 0, heads: 0, afterEnd: 0, bytes: 0, handed: 0 }
  reserved = 0
  readonly receiving = new Set<ReceivedBody>()
  readonly invocation: Invocation
  readonly request = new EventEmitter()
  readonly response = new EventEmitter()
  /** The caller's connection; only a request for a WebSocket has it. */
  readonly socket = new EventEmitter()
  readonly #upgrades: boolean
  #waiter: Waiter | null = null
  #exchange: Exchange | null = null
  #isOver = false
  #sent = false
  #paused = false
  #drained: (() => void) | null = null

  constructor(random: () => number) {
    const streams = random() < 0.5
    const isChunked = random() < 0.5
    this.#upgrades = random() < 0.1
    const policy = parsePolicy({ stream_body: streams, body_bytes: LIMIT, response_bytes: LIMIT, auth: 'none' })
    const version = { project: 'p', name: 'f', version: 1, policy }
    const pool = {
      acquire: (waiter: Waiter) => {
        this.#waiter = waiter
        return () => (this.#waiter = null)
      },
      released: () => this.counts.released++,
    }
    const live = { version, pool } as unknown as LiveFunction
    const bodies = {
      reserve: (bytes: number) => {
        if (random() < 0.05) return false
        this.reserved += bytes
        return true
      },
      release: (bytes: number) => (this.reserved -= bytes),
      begin: (body: ReceivedBody) => this.receiving.add(body),
      end: (body: ReceivedBody) => this.receiving.delete(body),
    }
    const parts: InvocationParts = {
      functions: { currentOf: () => (random() < 0.95 ? live : undefined) },
      admission: new Admission({ authenticate: () => SERVICE, depths: new Depths(''), onError() {} }),
      bodies: bodies as unknown as Bodies,
      heads: new Heads({
        trusts: () => false,
        clientOf: () => '203.0.113.7',
        ownOrigin: true,
        resourceLimitStatus: 546,
        onNarrowed() {},
      }),
      events: { finished: () => this.counts.finished++, invalid() {} },
    }
    const headers = this.#upgrades
      ? { host: 'h' }
      : isChunked
        ? { host: 'h', 'transfer-encoding': 'chunked' }
        : { host: 'h', 'content-length': '30' }
    const pause = () => (this.#paused = true)
    const resume = () => (this.#paused = false)
    const none = () => {}
    Object.assign(this.request, { method: 'POST', headers, rawHeaders: [], socket: { end: none }, complete: false })
    Object.assign(this.request, { pause, resume, destroy() {} })
    const put = () => {
      if (this.#isOver) this.counts.afterEnd++
      return random() < 0.8
    }
    const end = () => {
      put()
      this.#isOver = true
    }
    const write = (chunk: Buffer) => {
      this.counts.bytes += chunk.length
      return put()
    }
    const writeHead = () => this.counts.heads++
    const destroy = () => (this.#isOver = true)
    Object.assign(this.response, { shouldKeepAlive: random() < 0.5, writeHead, write, end, destroy })
    Object.assign(this.socket, { write, end, destroy, destroySoon: destroy, setTimeout: none, setNoDelay: none })
    Object.assign(this.socket, { pause, resume })
    const upgrade = this.#upgrades ? { socket: this.socket as unknown as Socket, head: Buffer.alloc(0) } : null
    const incoming = new Incoming(
      this.request as unknown as IncomingMessage,
      this.response as unknown as ServerResponse,
      { id: '1', requestId: 'r', path: 'f', upgrade },
    )
    this.invocation = new Invocation(parts, live, incoming)
  }

  /** Events that are possible now. */
  events(random: () => number): Record<string, () => void> {
    const events: Record<string, () => void> = { gone: () => this.response.emit('close') }
    const part = Buffer.alloc(1 + Math.floor(random() * 90))
    if (!this.#sent && !this.#paused && this.request.listenerCount('data') > 0) {
      events['part of the body'] = () => this.request.emit('data', part)
      events['end of the body'] = () => {
        this.#sent = true
        Object.assign(this.request, { complete: true })
        this.request.emit('end')
      }
    }
    if (this.#drained)
      events['the function reads on'] = () => {
        this.#drained?.()
        this.#drained = null
      }
    for (const body of this.receiving) events['late'] = () => body.late()
    const waiter = this.#waiter
    if (waiter) {
      events['granted'] = () => this.#grant(waiter, random)
      events['no instance'] = () => {
        this.#waiter = null
        waiter.refused({ why: 'busy', retryMs: 1 })
      }
    }
    const exchange = this.#exchange
    if (exchange) {
      const over = (end: () => void) => () => {
        this.#exchange = null
        end()
      }
      if (this.counts.heads === 0 && this.#upgrades)
        events['a switch'] = () => {
          this.counts.heads++
          exchange.onHead(101, [])
        }
      if (this.counts.heads === 0) events['head'] = () => exchange.onHead(200, [])
      else {
        events['part of the answer'] = () => exchange.onData(part)
        events['more will come'] = () => exchange.onPartial()
        events['end of the answer'] = over(() => exchange.onEnd())
      }
      if (this.counts.heads === 0) events['unreachable'] = over(() => exchange.onFail('unreachable', ''))
      if (this.counts.heads === 0) events['not listening'] = over(() => exchange.onFail('not_listening', ''))
      events['broken'] = over(() => exchange.onFail('closed', ''))
      events['no HTTP'] = over(() => exchange.onFail('invalid', ''))
      events['time is up'] = () => this.invocation.expire()
    }
    return events
  }

  #grant(waiter: Waiter, random: () => number): void {
    this.#waiter = null
    const drop = () => (this.#exchange = null)
    const connection = {
      destroy: drop,
      pause() {},
      resume() {},
      endBody() {},
      write: (_part: Buffer, drained: () => void) => {
        this.counts.handed++
        if (random() < 0.7) return true
        this.#drained = drained
        return false
      },
    } as unknown as Connection
    const send = (_head: string, _content: unknown, _bodiless: boolean, exchange: Exchange) => {
      this.#exchange = exchange
      return connection
    }
    waiter.granted({
      begin: () => this.counts.began++,
      prolong() {},
      end: () => this.counts.ended++,
      endUnreachable() {},
      exitReason: random() < 0.5 ? 'memory' : null,
      exited: Promise.resolve({ reason: 'crashed' }),
      upstream: { send },
    } as unknown as Instance)
  }
}

test('whatever happens to an invocation, it ends once and gives back all that it had', async () => {
  const seen = new Set<string>()
  for (let seed = 1; seed <= 4500; seed++) {
    const random = seededRandom(seed)
    const world = new World(random)
    world.invocation.begin()
    const happened: string[] = []
    for (let step = 0; step < 40; step++) {
      const names = Object.keys(world.events(random)).filter((name) => name !== 'gone' || random() < 0.1)
      if (names.length === 0) continue
      const name = names[Math.floor(random() * names.length)]!
      happened.push(name)
      world.events(random)[name]?.()
      if (step % 5 === 0) await Promise.resolve()
    }
    world.response.emit('close')
    await new Promise((resolve) => setImmediate(resolve))
    const { finished, began, ended, released, heads, afterEnd, bytes } = world.counts
    const about = `seed ${seed}: ${happened.join(', ')}`
    expect([finished, began - ended, began - released, afterEnd], about).toEqual([1, 0, 0, 0])
    expect([world.reserved, world.receiving.size], about).toEqual([0, 0])
    expect(heads, about).toBeLessThanOrEqual(1)
    // A WebSocket has its own limits.
    if (!happened.includes('a switch')) expect(bytes, about).toBeLessThanOrEqual(LIMIT)
    // Late events change nothing.
    const before = JSON.stringify([world.counts, world.invocation.status, world.invocation.problem])
    for (const event of Object.values(world.events(random))) event()
    expect(JSON.stringify([world.counts, world.invocation.status, world.invocation.problem]), about).toBe(before)
    for (const name of happened) seen.add(name)
    seen.add(world.invocation.problem).add(`${began} instances`)
    world.request.emit('close')
  }
  // The runs have covered every case.
  expect([...seen].toSorted()).toEqual(
    expect.arrayContaining([
      'body_bytes',
      'body_timeout',
      'FUNCTION_BUSY',
      'FUNCTION_NOT_FOUND',
      'PAYLOAD_TOO_LARGE',
      '2 instances',
      'a switch',
      '',
    ]),
  )
})

test('an answer that has begun leads to nothing but its end, and an end to nothing', () => {
  const states = ['asking', 'receiving', 'queued', 'called', 'answering', 'over'] as const
  expect(states.filter((state) => leads('answering', state))).toEqual(['over'])
  expect(states.filter((state) => leads('over', state))).toEqual([])
  expect(states.filter((state) => leads(state, 'over'))).toEqual(states.slice(0, -1))
})
