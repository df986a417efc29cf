import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import type { Client } from './sessions/client.ts'
import type { Engine } from './engine/engine.ts'
import { Execution } from './sessions/execution.ts'
import { fieldsOf, message, messagesOf, READY, simpleQuery } from './protocol/messages.ts'
import { Reply } from './protocol/reply.ts'
import { ownStartUp } from './protocol/start-up.ts'
import { WireServer } from './wire-server.ts'

/** An engine that answers `one` with a row. Every other statement of a client waits until the test ends it. */
class FakeEngine {
  statementTimeoutMs = 0
  interrupts = 0
  waiting: PromiseWithResolvers<boolean> | null = null

  async run(bytes: Uint8Array, onData: (data: Buffer, taken: () => void) => void): Promise<boolean> {
    const text = Buffer.from(bytes).toString('latin1')
    if (bytes[0] !== 0x51) {
      onData(message('S', Buffer.from('server_version\0eighteen\0')), ignore)
      return false
    }
    if (!/one|discard|authorization/.test(text)) {
      this.waiting = Promise.withResolvers<boolean>()
      return this.waiting.promise
    }
    onData(Buffer.concat([message('C', Buffer.from('SELECT 1\0')), READY]), ignore)
    return false
  }

  interrupt(): void {
    this.interrupts++
  }

  async kill(): Promise<void> {
    this.waiting?.reject(new Error('its thread ended'))
  }

  async close(): Promise<void> {}
}

/** Messages of a connection. */
interface Heard {
  readonly socket: Socket
  readonly types: () => string
  readonly error: () => string | undefined
}

async function serve(persistent: boolean) {
  const engines: FakeEngine[] = []
  const open = async () => {
    const engine = new FakeEngine()
    engines.push(engine)
    return engine as unknown as Engine
  }
  const server = new WireServer({ open, persistent, limits: { stuckMs: 50 } })
  const port = await server.listen(0, '127.0.0.1')
  onTestFinished(() => server.close())
  return { engines, join: () => join(port) }
}

function join(port: number): Heard {
  const socket = connect(port, '127.0.0.1')
  const heard: Buffer[] = []
  socket.on('data', (chunk: Buffer) => heard.push(chunk))
  socket.on('error', ignore)
  socket.write(ownStartUp())
  const all = () => [...messagesOf(Buffer.concat(heard))]
  return {
    socket,
    types: () =>
      all()
        .map(({ type }) => type)
        .join(''),
    error: () => {
      const found = all().find(({ type }) => type === 'E')
      return found && fieldsOf(Buffer.concat(heard).subarray(found.start - 5)).get('C')
    },
  }
}

test('when the engine ends, every client is told and closed, and the next ones have another engine', async () => {
  const { engines, join: joined } = await serve(true)
  const [running, idle] = [joined(), joined()]
  running.socket.write(simpleQuery('select forever'))
  await expect.poll(() => engines[0]?.waiting).not.toBeNull()
  engines[0]?.waiting?.reject(new Error('memory access out of bounds'))
  await expect.poll(() => [running.error(), idle.error()]).toEqual(['57P01', '57P01'])
  await expect.poll(() => running.socket.closed && idle.socket.closed).toBe(true)
  const next = joined()
  next.socket.write(simpleQuery('select one'))
  await expect.poll(() => next.types()).toBe('RSKZCZ')
  expect(engines).toHaveLength(2)
})

test('an engine that hears nothing is given up, unless its data are only in memory', async () => {
  for (const persistent of [true, false]) {
    const { engines, join: joined } = await serve(persistent)
    const deaf = joined()
    deaf.socket.write(simpleQuery('select forever'))
    await expect.poll(() => engines[0]?.waiting).not.toBeNull()
    deaf.socket.destroy()
    if (persistent) await expect.poll(() => engines.length).toBe(2)
    // Waits longer than the time after which the persistent engine was ended.
    else await expect.poll(() => engines[0]!.interrupts).toBeGreaterThan(5)
    expect(engines).toHaveLength(persistent ? 2 : 1)
    engines[0]?.waiting?.resolve(false)
  }
})

test('data in memory that are lost are not replaced by none', async () => {
  const { engines, join: joined } = await serve(false)
  const running = joined()
  running.socket.write(simpleQuery('select forever'))
  await expect.poll(() => engines[0]?.waiting).not.toBeNull()
  engines[0]?.waiting?.reject(new Error('memory access out of bounds'))
  await expect.poll(() => running.error()).toBe('57P01')
  const next = joined()
  await expect.poll(() => next.error()).toBe('57P03')
})

test('a statement that is told to stop before it runs is stopped as soon as it does', async () => {
  const engine = new FakeEngine()
  const client = { gone: false } as Client
  const reply = new Reply({ write: ignore })
  const execution = new Execution(engine as unknown as Engine, client, reply, Infinity)
  execution.stop('user request')
  expect(engine.interrupts).toBe(0)
  const running = execution.run(simpleQuery('select forever'))
  expect(engine.interrupts).toBe(1)
  engine.waiting?.resolve(false)
  await running
})

function ignore(): void {}
