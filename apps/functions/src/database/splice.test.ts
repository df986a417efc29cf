import type { Socket } from 'node:net'
import { duplexPair, type Duplex } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import type { LentSession } from '@terrane/database'
import { expect, test } from 'vitest'
import { message } from './frames.ts'
import { splice } from './splice.ts'

type Made = ReturnType<typeof make>

/** A client and a server with a splice between them, and the bytes that each has received. */
function make(depth = () => 'zero') {
  const [client, door] = duplexPair()
  const [back, server] = duplexPair()
  const asked: (() => void)[] = []
  const session = {
    lost: false,
    lend: () => back,
    takeBack: () => undefined,
    cancel: () => new Promise<void>((resolve) => asked.push(resolve)),
  }
  const spliced = splice(door as unknown as Socket, session as unknown as LentSession, { isWelcome: () => true, depth })
  return { client, door, back, server, asked, spliced, statements: textOf(server), answers: textOf(client) }
}

const say = (type: string, body = '') => message(type, Buffer.from(body))
const READY = say('Z', 'I')
/** The server's answer to a setting of the depth. */
const IS_SET = Buffer.concat([
  say('1'),
  say('2'),
  say('D', '\0\x01\0\0\0\x04zero'),
  say('C', 'SELECT 1\0'),
  say('3'),
  READY,
])

/** A session that has had one statement. */
async function begin(depth?: () => string) {
  const made = make(depth)
  made.client.write(say('Q', 'first'))
  await settle()
  made.server.write(Buffer.concat([IS_SET, say('C', 'SELECT'), READY]))
  await settle()
  return made
}

function textOf(stream: Duplex): () => string {
  let text = ''
  stream.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')))
  return () => text
}

async function settle(): Promise<void> {
  for (let i = 0; i < 10; i++) await turn()
}

test('a cancellation while nothing runs does not reach the server', async () => {
  const { spliced, asked } = await begin()
  await spliced.cancel()
  expect(asked).toEqual([])
})

test('the statement after one that was cancelled waits until the server has heard of the cancellation', async () => {
  const { spliced, asked, client, server, statements, answers } = await begin()
  client.write(say('Q', 'one'))
  await settle()
  const cancelled = spliced.cancel()
  server.write(say('Z', 'T'))
  client.write(say('Q', 'two'))
  await settle()
  expect(answers().endsWith('T')).toBe(true)
  expect(statements()).toContain('one')
  expect(statements()).not.toContain('two')
  asked[0]!()
  await cancelled
  await settle()
  expect(statements()).toContain('two')
  expect(asked).toHaveLength(1)
})

test('a session is not given back while a cancellation of its client is on its way', async () => {
  const { spliced, asked, client, door, server } = await begin()
  client.write(say('Q', 'one'))
  await settle()
  void spliced.cancel()
  server.write(READY)
  await settle()
  door.destroy()
  let left: string | null = null
  void spliced.left.then((how) => (left = how))
  await settle()
  expect(left).toBeNull()
  asked[0]!()
  expect(await spliced.left).toBe('ready')
})

test('a session is given back when its client closes the connection without a termination message, but not within a message', async () => {
  const silent = await begin()
  silent.client.end()
  expect(await silent.spliced.left).toBe('ready')
  for (const part of ['Q', 'd\0\0\0\x10', 'd\0\0\0\x10copy']) {
    const { client, spliced } = await begin()
    client.end(Buffer.from(part))
    expect(await spliced.left, part).toBe('unfinished')
  }
})

test('the depth is set before the first transaction and, changed, before the next; the client does not see the answer', async () => {
  let depth = 'one'
  const { client, server, statements, answers } = make(() => depth)
  client.write(say('Q', 'first'))
  await settle()
  expect(statements()).toMatch(/^P.*terrane\.depth.*one.*first/s)
  depth = 'two'
  client.write(say('Q', 'within'))
  server.write(Buffer.concat([IS_SET, say('Z', 'T'), READY]))
  await settle()
  expect(statements()).not.toContain('two')
  client.write(say('Q', 'second'))
  client.write(say('Q', 'third'))
  await settle()
  expect(statements().split('terrane.depth')).toHaveLength(3)
  expect(statements()).toMatch(/terrane\.depth.*two.*second.*third/s)
  const before = answers().length
  const rest = Buffer.concat([say('C', 'SELECT'), READY])
  for (const byte of Buffer.concat([say('A', 'news'), IS_SET, rest])) server.write(Buffer.of(byte))
  await settle()
  expect(answers().slice(before)).toBe(Buffer.concat([say('A', 'news'), rest]).toString('latin1'))
})

test('a changed depth is set after a COPY and after a failed statement, and not for a client that leaves', async () => {
  let depth = 'one'
  const { client, server, spliced, statements } = await begin(() => depth)
  client.write(Buffer.concat([say('Q', 'copy'), say('d', 'row'), say('c')]))
  await settle()
  server.write(Buffer.concat([say('C', 'COPY 1'), READY]))
  await settle()
  depth = 'two'
  // Parse and bind fail; the server reads on to the sync.
  client.write(Buffer.concat([say('P', 'wrong'), say('B'), say('S')]))
  await settle()
  expect(statements()).toMatch(/two.*wrong/s)
  server.write(Buffer.concat([IS_SET, say('E', 'no'), READY]))
  await settle()
  depth = 'three'
  client.write(say('B', 'again'))
  client.write(say('S'))
  await settle()
  expect(statements()).toMatch(/three.*again/s)
  server.write(Buffer.concat([IS_SET, READY]))
  await settle()
  depth = 'four'
  client.end(say('X'))
  expect(await spliced.left).toBe('ready')
  expect(statements()).not.toContain('four')
})

test('notifications reach the client before the answer to a depth ends', async () => {
  const { client, server, answers } = make()
  client.write(say('Q', 'one'))
  await settle()
  server.write(Buffer.concat([say('A', 'early'), say('A', 'late').subarray(0, 7)]))
  await settle()
  expect(answers()).toContain('early')
})

test('a cancellation waits until the depth is set, and then cancels the statement', async () => {
  const { spliced, asked, client, server, answers } = make()
  client.write(say('Q', 'one'))
  await settle()
  const cancelled = spliced.cancel()
  await settle()
  expect(asked).toEqual([])
  server.write(IS_SET)
  await settle()
  asked[0]!()
  await cancelled
  expect(answers()).toBe('')
})

test.each([
  ['client leaves before the depth is set', (made: Made) => made.door.destroy()],
  ['depth could not be set', (made: Made) => made.server.write(Buffer.concat([say('E', 'lost'), READY]))],
  ['server goes before the depth is set', (made: Made) => made.back.destroy()],
])('a session is not used again when its %s, not even with a cancellation on its way', async (_, end) => {
  for (const isCancelled of [false, true]) {
    const made = make()
    made.client.write(say('Q', 'one'))
    await settle()
    if (isCancelled) void made.spliced.cancel()
    end(made)
    await settle()
    for (const forward of made.asked) forward()
    expect(await made.spliced.left).toBe('unfinished')
  }
})

test('an error about the depth is seen by the client', async () => {
  const { client, server, answers } = make()
  client.write(say('Q', 'one'))
  await settle()
  server.write(say('E', 'the server stops'))
  await settle()
  expect(answers()).toContain('the server stops')
})
